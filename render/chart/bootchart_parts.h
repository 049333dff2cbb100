/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RENDER_CHART_BOOTCHART_PARTS_H
#define BUILDBEAT_RENDER_CHART_BOOTCHART_PARTS_H

#include "render/chart/chart.h"
#include "render/chart/svg.h"

/* The parts of bootchart_write(), private to it. Those that return something give 0 or
 * -ENOMEM; what the buffer could not take is its own error. */

int bootchart_panels(struct markup *s, const struct chart *c);
int bootchart_lanes(struct markup *s, const struct chart *c);
void bootchart_legend(struct markup *s, const struct chart *c);

/* Over the bars: outlines of what ended badly, lead-ins, phases, the critical path,
 * the other build. */
int bootchart_marks_below(struct markup *s, const struct chart *c);
int bootchart_marks_above(struct markup *s, const struct chart *c);

/* <text class x y>; text may be any bytes. */
void bootchart_add_text(struct markup *s, const char *class, double x, double y, const char *text);

/* An entry of a legend; attribute says what its id is: "data-band". */
void bootchart_add_key(struct markup *s, const struct key *k, const char *attribute);

/* The nested <svg class="plot">; its end is markup_end(). */
void bootchart_begin_plot(struct markup *s, int y, int height);

/* From the left of the plots, in pixels. */
static inline double time_x(const struct chart *c, int64_t us)
{
	return (double)us * CHART_PLOT_WIDTH / (double)c->end_us;
}

/* bootchart.css, app.css and app.js, made into C strings at build time. */
extern const char bootchart_css[], bootchart_app_css[], bootchart_js[];

#endif
