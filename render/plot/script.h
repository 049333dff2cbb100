/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RENDER_PLOT_SCRIPT_H
#define BUILDBEAT_RENDER_PLOT_SCRIPT_H

#include "render/plot/drawing.h"
#include "render/plot/plot_page.h"

/*
 * A page as gnuplot reads it. The data file has one block per pane, and one for its band.
 * The script reads the data from NAME.data in its directory, NAME being the chart's word,
 * and draws NAME.FORMAT there. Sticky errors of the buffer.
 */
void script_add(struct buf *b, const struct plot_page *page, enum plot_format format);
void script_add_data(struct buf *b, const struct plot_page *page);

/* For the terminal: without areas, one value a column of text; it prints its
 * legends. The data have one row a stretch, at its middle. */
void term_add(struct buf *b, const struct plot_page *page, unsigned columns, unsigned lines);
void script_add_term_data(struct buf *b, const struct plot_page *page);

/* The settings it has at its beginning. */
void term_add_settings(struct buf *b);

/* What gnuplot printed then, without blanks at the ends of lines, with colours. */
void term_finish(struct buf *out, struct buf *drawn, bool colour);

/* Draw a page: d has all but the script, the data and the description. As plot_draw(). */
int plot_draw_page(struct drawing *d, const struct plot_page *page, unsigned columns,
		   unsigned lines, struct buf *out, struct error *err);

/* How many stretches a line of the terminal has room for. */
size_t term_stretches(unsigned columns);

#endif
