/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RENDER_CHART_SVG_H
#define BUILDBEAT_RENDER_CHART_SVG_H

#include "base/buf.h"
#include "write/markup.h"

/* The numbers and paths of SVG; elements and texts are written by markup.h. */

/* A number with at most two decimals, as short as possible: "-.5". Up to 10^13. */
void svg_attr_number(struct markup *m, const char *name, double value);

/*
 * One <path> with a class, of any number of pieces, written with relative
 * coordinates in hundredths of a pixel. A path that got no piece is not written.
 */
struct svg_path {
	struct markup *svg;
	const char *class;
	bool coarse;		/* in tenths of a pixel: shorter */
	bool begun;
	char last;		/* command, which need not be repeated */
	int64_t x, y;		/* where we are, in 1/100 */
	int64_t start_x, start_y;	/* of the piece */
};

void svg_path_init(struct svg_path *p, struct markup *s, const char *class);
void svg_path_move(struct svg_path *p, double x, double y);
void svg_path_line(struct svg_path *p, double x, double y);
void svg_path_close(struct svg_path *p);
void svg_path_rect(struct svg_path *p, double x, double y, double width, double height);
void svg_path_end(struct svg_path *p);

/*
 * The width of a text that is safe to print, in pixels; size is that of the font. Nobody knows
 * which font will show it: these are the widths of a wide one, so that a text that fits here
 * fits anywhere.
 */
double svg_text_width(const char *text, double size);

/* How many bytes from the beginning of a text take at most width pixels: all, or those before a
 * blank, or as many letters as fit, at least one. */
size_t svg_text_fit(const char *text, double width, double size);

/* A bold text is wider by this factor at most. */
#define SVG_BOLD 1.16

/*
 * A name, made safe to print (text_add_name), that takes at most width pixels: where
 * it does not fit, its middle is left out. Nothing where not even three letters fit.
 */
void svg_add_label(struct buf *b, const char *name, double width, double size);

/* The beginning of a text that is safe to print, in at most width pixels; what is left out is an
 * ellipsis, where there is room for one. */
void svg_add_beginning(struct buf *b, const char *text, double width, double size);

#endif
