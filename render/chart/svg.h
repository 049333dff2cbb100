/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RENDER_CHART_SVG_H
#define BUILDBEAT_RENDER_CHART_SVG_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The only place that writes markup: it escapes, closes what was opened, keeps
 * numbers short. Texts may be any bytes: what XML forbids and what would turn the
 * direction of writing is shown as text_add_name() does. Names of elements and
 * attributes are ours, lower case words. Errors are those of the buffer.
 */
#define SVG_DEPTH_MAX 16

struct svg {
	struct buf *out;
	unsigned depth;
	bool in_tag;		/* the last start tag still takes attributes */
	const char *open[SVG_DEPTH_MAX];
};

void svg_init(struct svg *s, struct buf *out);

void svg_begin(struct svg *s, const char *element);
void svg_end(struct svg *s);

/* Attributes of the element just begun. */
void svg_attr(struct svg *s, const char *name, const char *value);
void svg_attr_number(struct svg *s, const char *name, double value);

void svg_text(struct svg *s, const char *text);

/* The same from a buffer, whose error it takes over. */
void svg_text_buf(struct svg *s, struct buf *text);
void svg_attr_buf(struct svg *s, const char *name, struct buf *value);

/* The text as it is between tags and quotes. */
void svg_add_escaped(struct buf *b, const char *text);

/* Text that keeps its line breaks, in a CDATA section: style and script. */
void svg_verbatim(struct svg *s, const char *text);

/* Where content of the element goes that needs no escaping. */
struct buf *svg_content(struct svg *s);

/* A number with at most two decimals, as short as can be: "-.5". Up to 10^13. */
void svg_add_number(struct buf *b, double value);

/*
 * One <path> with a class, of any number of pieces, written with relative
 * coordinates in hundredths of a pixel. A path that got no piece is not written.
 */
struct svg_path {
	struct svg *svg;
	const char *class;
	bool begun;
	char last;		/* command, which need not be repeated */
	int64_t x, y;		/* where we are, in 1/100 */
	int64_t start_x, start_y;	/* of the piece */
};

void svg_path_init(struct svg_path *p, struct svg *s, const char *class);
void svg_path_move(struct svg_path *p, double x, double y);
void svg_path_line(struct svg_path *p, double x, double y);
void svg_path_close(struct svg_path *p);
void svg_path_rect(struct svg_path *p, double x, double y, double width, double height);
void svg_path_end(struct svg_path *p);

#endif
