/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RENDER_PLOT_TREND_SCRIPT_H
#define BUILDBEAT_RENDER_PLOT_TREND_SCRIPT_H

#include "render/plot/plot.h"
#include "render/plot/trend_axis.h"

/* A trend as gnuplot reads it, as script.h has it for figures: the files are called
 * TREND_WORD. Sticky errors of the buffer. */
#define TREND_WORD "trend"

void trend_script_add(struct buf *b, const struct trend *t, const struct trend_axis *axis,
		      enum plot_format format);
void trend_term_add(struct buf *b, const struct trend *t, const struct trend_axis *axis,
		    unsigned columns, unsigned lines);

/* A block a pane: a line a build, its number, value and level. */
void trend_add_data(struct buf *b, const struct trend *t, const struct trend_axis *axis);

#endif
