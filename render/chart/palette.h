/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RENDER_CHART_PALETTE_H
#define BUILDBEAT_RENDER_CHART_PALETTE_H

#include <stddef.h>
#include <stdint.h>

/*
 * The colours of all charts: eight that people with any colour vision can distinguish
 * (tests/check_palette computes the distances), for light and for dark ground.
 */
enum colour {
	COLOUR_BLUE, COLOUR_ORANGE, COLOUR_GREEN, COLOUR_YELLOW,
	COLOUR_SKY, COLOUR_RED, COLOUR_PURPLE, COLOUR_GREY,
	COLOURS,
};

/*
 * Another set, for a share of a task's time, from little to much. It takes the places of the first
 * colours; what is not known has the colour of the ground in place of grey.
 */
#define PALETTE_STEPS 5

struct palette {
	uint32_t ground, ink, faint, grid, outline;
	uint32_t colour[COLOURS];
	uint32_t share[PALETTE_STEPS];
};

extern const struct palette palette_light, palette_dark;

/* Of lines and edges: the colour or, where that stands out too little from the ground, one
 * nearer to the ink. */
uint32_t palette_edge(const struct palette *p, uint32_t colour);

/* Of words upon a colour: ink or ground, whichever is easier to read. */
uint32_t palette_words(const struct palette *p, uint32_t colour);

/*
 * The colour of a kind of work (struct task in recording.h; OpenEmbedded's tasks
 * have kinds too). The same in every chart. There are more kinds than
 * distinguishable colours: related ones share a colour; unknown ones are grey.
 */
enum colour palette_of_kind(const char *kind);

#endif
