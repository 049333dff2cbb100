/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RENDER_PLOT_SCRIPT_H
#define BUILDBEAT_RENDER_PLOT_SCRIPT_H

#include "render/plot/figure.h"

/*
 * A figure as gnuplot reads it. The data file has one block per pane, and one for its band.
 * The script reads the data from NAME.data in its directory, NAME being the chart's word,
 * and draws NAME.FORMAT there. Sticky errors of the buffer.
 */
void script_add(struct buf *b, const struct figure *f, enum plot_format format);
void script_add_data(struct buf *b, const struct figure *f);

/* For the terminal: without areas, one value a column of text; it prints its
 * legends. The data have one row a stretch, at its middle. */
void term_add(struct buf *b, const struct figure *f, unsigned columns, unsigned lines);
void term_add_data(struct buf *b, const struct figure *f);

/* The settings it has at its beginning. */
void term_add_settings(struct buf *b);

/* What gnuplot printed then, without blanks at the ends of lines, with colours. */
void term_finish(struct buf *out, struct buf *drawn, bool colour);

/* How many stretches a line of the terminal has room for. */
size_t term_stretches(unsigned columns);

/* A text as a string of gnuplot's: in double quotes, with letters, digits, blanks and a few
 * others as they are, all other characters by their number. */
void script_add_text(struct buf *b, const char *text);

/* 12345, 3: "12.345"; without zeros at the end. */
void script_add_number(struct buf *b, int64_t value, unsigned decimals);

/* A value in what the axes of the script count: %, bytes, pieces, seconds; NaN where
 * there is none. */
void script_add_value(struct buf *b, enum axis_unit unit, int64_t value);

/* ("0" 0, "50 %" 50, ...): of a value axis, at most `most`; of the time axis. */
void script_add_ticks(struct buf *b, enum axis_unit unit, int64_t ceiling, size_t most);
void script_add_time_ticks(struct buf *b, const struct pane *p, size_t most);

#endif
