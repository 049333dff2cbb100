/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RENDER_CHART_LEGEND_H
#define BUILDBEAT_RENDER_CHART_LEGEND_H

#include "render/chart/chart.h"

/* The legends of a chart: their entries and places. */

#define LEGEND_SIZE 11		/* of the font, in pixels */
#define LEGEND_PITCH 17		/* from line to line */
#define LEGEND_SWATCH 15	/* room for the swatch, left of the words */

/* The bands of a panel with their values. 0 or -ENOMEM. */
int legend_of_panel(struct legend *l, const struct panel *p);

/* Explain the pale part of curves, once in a chart. */
void legend_add_spread(struct legend *l);

/* What the tasks did, the work with most time first; one key for every grey work. 0 or
 * -ENOMEM. */
int legend_of_works(struct legend *l, const struct works *w);

/* Those marks that the chart of c has. */
void legend_of_marks(struct legend *l, const struct chart *c);

/* Give the keys their places from left to right, the first baseline at y, in as many
 * lines as it takes; returns the last baseline. */
int legend_place(struct legend *l, int x, int y, int right);

void legend_release(struct legend *l);

#endif
