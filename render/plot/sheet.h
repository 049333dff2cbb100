/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RENDER_PLOT_SHEET_H
#define BUILDBEAT_RENDER_PLOT_SHEET_H

#include "render/plot/plot_page.h"

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
	const struct plot_page *page;	/* script.c's */
};

/* The terminal and the file; colours, margins, grid, and the beginning of many plots. */
void sheet_add_terminal(const struct sheet *s);
void sheet_add_settings(const struct sheet *s);

/* Where the next plot is. */
void sheet_add_margins(const struct sheet *s, int top, int bottom);

/* A text of px pixels, from x to the right, its middle at y. */
void sheet_add_label(const struct sheet *s, const char *text, int x, int y, int px, uint32_t rgb);

/* Words of gnuplot's language. */
void sheet_add_colour(struct buf *b, uint32_t rgb);
void sheet_add_x(const struct sheet *s, int x);
void sheet_add_y(const struct sheet *s, int y);

/* A text as a string of gnuplot's: in double quotes, with letters, digits, blanks and a few
 * others as they are, all other characters by their number. */
void sheet_add_text(struct buf *b, const char *text);

/* 12345, 3: "12.345"; without zeros at the end. */
void sheet_add_number(struct buf *b, int64_t value, unsigned decimals);

/* A value in the unit of the script's axes: %, bytes, pieces, seconds; NaN if it is absent. */
void sheet_add_value(struct buf *b, enum axis_unit unit, int64_t value);

/* ("0" 0, "50 %" 50, ...), at most `most`: of a value axis; of the time axis. */
void sheet_add_ticks(struct buf *b, enum axis_unit unit, int64_t ceiling, size_t most);
void sheet_add_time_ticks(struct buf *b, const struct pane *p, size_t most);

#endif
