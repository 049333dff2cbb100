/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RENDER_PLOT_SHEET_H
#define BUILDBEAT_RENDER_PLOT_SHEET_H

#include "render/plot/figure.h"

/*
 * What the scripts of all pictures have in common: a sheet of so many pixels, on which
 * everything has its place from the top left; its colours are those of palette_light.
 */
#define SHEET_WIDTH 1280
#define SHEET_LEFT 84		/* margins of the plots */
#define SHEET_RIGHT 72

struct sheet {
	struct buf *out;
	const char *word;	/* of the files, as in drawing.h */
	enum plot_format format;
	int height;
	const struct figure *f;	/* script.c's */
};

/* The terminal and the file; colours, margins, grid, and the beginning of many plots. */
void sheet_add_terminal(const struct sheet *s);
void sheet_add_settings(const struct sheet *s);

/* Where the next plot is. */
void sheet_add_margins(const struct sheet *s, int top, int bottom);

/* A text of px pixels, from x to the right, its middle at y. */
void sheet_add_label(const struct sheet *s, const char *text, int x, int y, int px, uint32_t rgb);

/* Words of gnuplot's. */
void sheet_add_colour(struct buf *b, uint32_t rgb);
void sheet_add_x(const struct sheet *s, int x);
void sheet_add_y(const struct sheet *s, int y);

#endif
