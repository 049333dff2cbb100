/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RENDER_CHART_BOOTCHART_PARTS_H
#define BUILDBEAT_RENDER_CHART_BOOTCHART_PARTS_H

#include "render/chart/chart.h"
#include "render/chart/svg.h"

/* The parts of bootchart_write(), private to it. Those that return something give 0 or
 * -ENOMEM; what the buffer could not take is its own error. */

/* Colours for light and dark ground, then bootchart.css. */
void part_style(struct markup *s);

int part_panels(struct markup *s, const struct chart *c);
int part_lanes(struct markup *s, const struct chart *c);
void part_legend(struct markup *s, const struct chart *c);

/* Over the bars: outlines of what ended badly, lead-ins, phases, the critical path,
 * the other build. */
int part_marks_below(struct markup *s, const struct chart *c);
int part_marks_above(struct markup *s, const struct chart *c);

/* The signs of what ended badly, around a point; and an outline that is open at the
 * right, with an arrow. */
void add_cross(struct svg_path *p, double x, double y);
void add_bolt(struct svg_path *p, double x, double y);
void add_badge(struct svg_path *p, double x, double y);
void add_open_end(struct svg_path *p, double x, double y, double width, double height);

#define MARK_THIN 2.0		/* pixels: height of lead-ins and phases */
#define MARK_GHOST_HEIGHT 3.0

/* <text class x y>; text may be any bytes. */
void add_text(struct markup *s, const char *class, double x, double y, const char *text);

/* An entry of a legend; attribute says what its id is: "data-band". */
void add_key(struct markup *s, const struct key *k, const char *attribute);

/* The nested <svg class="plot">; its end is markup_end(). */
void begin_plot(struct markup *s, int y, int height);

/* From the left of the plots, in pixels. */
static inline double time_x(const struct chart *c, int64_t us)
{
	return (double)us * CHART_PLOT_WIDTH / (double)c->end_us;
}

#endif
