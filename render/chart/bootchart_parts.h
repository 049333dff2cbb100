/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RENDER_CHART_BOOTCHART_PARTS_H
#define BUILDBEAT_RENDER_CHART_BOOTCHART_PARTS_H

#include "render/chart/chart.h"
#include "render/chart/svg.h"

/* The parts of bootchart_write(), private to it. Those that return something give 0 or
 * -ENOMEM; what the buffer could not take is its own error. */

int bootchart_path(struct markup *s, const struct chart *c);
int bootchart_lanes(struct markup *s, const struct chart *c);
int bootchart_other(struct markup *s, const struct chart *c);
int bootchart_panels(struct markup *s, const struct chart *c);
void bootchart_legend(struct markup *s, const struct chart *c);

/* Over the bars: outlines of what ended badly, lead-ins, phases, the path. */
int bootchart_marks_below(struct markup *s, const struct chart *c);
int bootchart_phases(struct markup *s, const struct chart *c);
int bootchart_marks_above(struct markup *s, const struct chart *c);

/* Brackets above the tasks of the path, in its lane or in the tasks' own. Those that needed the
 * task before have one style, those that had no free worker another. */
int bootchart_links(struct markup *s, const struct chart *c, bool in_lane);

/* <text class x y>; text may be any bytes. */
void bootchart_add_text(struct markup *s, const char *class, double x, double y, const char *text);

/* The same, shortened to a width; in full in its title then. */
void bootchart_add_fitting(struct markup *s, const char *class, double x, double y,
			   const char *text, double width, double size);

/* Where a bar is drawn, within its plot, and whose name it has. */
struct bar {
	double x, y, width, height;
	double named;		/* height of its upper part, where its name is */
	double gauge, gauge_y;	/* height and top of its part that shows CPU; 0: none */
	uint32_t task;		/* NO_INDEX: none of its n_tasks has most of it */
	int64_t part_us;	/* it is a part of its task that took so long; 0: all of it */
	uint32_t n_tasks;
	uint8_t colour, efficiency;	/* as in struct piece */
	bool ended_badly;	/* a sign is at its end */
};

/* Bars by colour; and the names of those that have room, without what rows by `by` say. 0 or
 * -ENOMEM. */
void bootchart_bars(struct markup *s, const struct bar *bar, size_t n);
int bootchart_names(struct markup *s, const struct summary *sum, enum lanes_by by,
		    const struct bar *bar, size_t n);

/* CPU over time in the bars of chart.pieces. 0 or -ENOMEM. */
int bootchart_pulses(struct markup *s, const struct chart *c, const struct bar *bar);

/* The width of a bar with a gap before the next, where that does not hide it. */
double bootchart_bar_width(const struct bar *b);

/* The names of stretches of narrow bars; and the size of the font in a bar, 0: it is too low. */
void bootchart_stretches(struct markup *s, const struct summary *sum, enum lanes_by by,
			 const struct bar *bar, size_t n);
double bootchart_name_size(const struct bar *b);

/* An entry of a legend; attribute says what its id is: "data-band". */
void bootchart_add_key(struct markup *s, const struct key *k, const char *attribute);

/* The nested <svg class="plot">; its end is markup_end(). */
void bootchart_begin_plot(struct markup *s, const struct chart *c, int y, int height);

/* bootchart.css and app.css, made into C strings at build time. */
extern const char bootchart_css[], bootchart_app_css[];

#endif
