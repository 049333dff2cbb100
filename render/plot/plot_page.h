/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RENDER_PLOT_PLOT_PAGE_H
#define BUILDBEAT_RENDER_PLOT_PLOT_PAGE_H

#include "render/plot/plot.h"

/*
 * A chart as plain structs, panes below each other: its content is decided here, script.c and
 * term.c write it for gnuplot. All texts are safe to print (text_add_name()).
 */
#define PAGE_TEXT 256
#define PANES_MAX 3
#define LAYERS_MAX 12

/* One quantity; value[i] is the mean over the i-th of the pane's stretches of equal
 * width, BAND_ABSENT where nothing is known. */
struct layer {
	char label[PAGE_TEXT];
	char values[96];	/* "mean 41 %, max 98 %" */
	enum mark mark;
	bool right;
	uint32_t rgb;
	int64_t *value;
};

/* One plot of a chart, over [from_us, until_us). */
struct pane {
	char title[PAGE_TEXT];
	char note[2 * PAGE_TEXT];
	enum axis_unit unit, right_unit;
	int64_t ceiling, right_ceiling;	/* right 0: no axis */
	int64_t limit;			/* -1: none */
	char limit_label[64];
	int64_t mark_us;		/* a moment to point at, -1: none */
	char mark_label[64];
	int64_t from_us, until_us;
	unsigned legend_columns;
	size_t n;			/* stretches */
	size_t n_layers;
	struct layer layer[LAYERS_MAX];
	int64_t *low, *high;	/* of the stack, or of the first area, where a stretch holds
				   several samples; else NULL */
	char band_label[PAGE_TEXT];
};

struct plot_page {
	enum plot_chart chart;
	char title[PAGE_TEXT];
	char subtitle[PAGE_TEXT];
	char note[2 * PAGE_TEXT];	/* what is missing and why */
	size_t n_panes;
	struct pane pane[PANES_MAX];
};

/*
 * n: stretches a pane is cut into. 0, -ENOMEM or -ENODATA (there is nothing to show).
 * Always release.
 */
int plot_page_make(struct plot_page *page, enum plot_chart chart, const struct summary *s,
		     const struct panels *panels, size_t n);
void plot_page_release(struct plot_page *page);

/* When a stretch begins. */
int64_t plot_page_time_us(const struct pane *p, size_t i);

/* Parts of it, for page_tasks.c. A new pane for a panel, NULL when out of memory. */
struct pane *plot_page_add_panel(struct plot_page *page, const struct panel *from, size_t n,
				 int64_t from_us, int64_t until_us);

/* Add the memory of the tasks over time, with the panel's bands, and around its peak. 0 or
 * -ENOMEM. */
int page_add_tasks(struct plot_page *page, const struct summary *s, const struct panels *panels,
		   size_t n);

#endif
