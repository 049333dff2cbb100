/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RENDER_PLOT_TREND_AXIS_H
#define BUILDBEAT_RENDER_PLOT_TREND_AXIS_H

#include "render/chart/axis.h"
#include "render/plot/trend.h"

/* The value axis of a pane. It does not begin at 0 if the values are far above 0, so that
 * changes are visible. */
struct trend_axis {
	enum axis_unit unit;		/* of the chart's */
	int64_t low, high, step;
};

/* -ENODATA: there are no values. */
int trend_axis_make(struct trend_axis *a, const struct trend *t, const struct trend_pane *p);

/* A value in whole numbers of the axis' unit. */
int64_t trend_value(const struct trend_pane *p, double value);

/* The number of builds from one named day to the next, if there is room for `most` days. */
size_t trend_day_step(size_t builds, size_t most);
void trend_add_day(struct buf *b, const struct trend *t, size_t build);

#endif
