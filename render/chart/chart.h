/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RENDER_CHART_CHART_H
#define BUILDBEAT_RENDER_CHART_CHART_H

#include "analyse/answer.h"
#include "analyse/chain.h"
#include "analyse/queue.h"
#include "analyse/summary.h"
#include "render/chart/lanes.h"
#include "render/chart/panels.h"
#include "render/chart/pieces.h"
#include "render/chart/works.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The bootchart as plain structs: everything that is decided before anything is written.
 * Positions are in pixels of the static picture, which is CHART_WIDTH wide; with
 * script the picture is as wide as its window.
 */
#define CHART_WIDTH 1280
#define CHART_MARGIN 24
#define CHART_PLOT_X 104	/* left of it: labels, axes */
#define CHART_PLOT_RIGHT 56	/* right of it: the right axes */
#define CHART_PLOT_WIDTH (CHART_WIDTH - CHART_PLOT_X - CHART_PLOT_RIGHT)
#define CHART_COLUMN 2		/* pixels: a plot shows means of points closer than that */
#define CHART_PIECES_MAX 14000
#define CHART_HEADLINE_Y 44

/* The build to compare with. */
struct chart_other {
	const struct summary *sum;
	const uint32_t *same;	/* of every task of ours: the same one there, or NO_INDEX */
	size_t n_same, n_only_here, n_only_there;
	const char *warning;	/* why they may be builds of different things, or NULL */
};

struct chart_input {
	const struct summary *sum;
	const struct panels *panels;	/* of sum */
	const struct chart_other *other;	/* or NULL */
	enum lanes_by by;
	const uint64_t *lines;	/* of each task: lines of output on the page CHART_LOG_PAGE, or NULL */
};

/* The page beside the chart that has the build's output (report/log_page.h). */
#define CHART_LOG_PAGE "log.html"

/* What the header says, in columns: a label and below it the text. */
struct fact {
	const char *label;	/* "host" ...; NULL: the headline */
	char *text;		/* safe to print */
	bool alarm;		/* it reports a problem */
	int x, y, width;	/* y: the baseline of the text */
};

#define CHART_FACTS_MAX 16
#define FACT_SIZE 12.5		/* of the font, in pixels */
#define FACT_LABEL_RISE 15	/* a label's baseline above that of its text */

/* An entry of a legend: a swatch and words. */
struct key {
	const char *id;		/* of the band, the kind or the mark; NULL: without a swatch */
	bool is_mark;		/* among bands or kinds */
	const char *label;	/* not yet safe to print */
	char *values;		/* "max 12 MiB/s", or NULL */
	const char *meaning;	/* or NULL */
	enum colour colour;
	enum mark mark;
	int x, y, width;	/* y: the baseline of the text */
};

#define LEGEND_KEYS_MAX 24

struct legend {
	int error;		/* -ENOMEM: the keys have no reliable places */
	size_t n;
	struct key key[LEGEND_KEYS_MAX];
	char *rest;		/* private: the label of a key */
};

/* A panel's or row's place. */
struct place {
	int y, height;		/* of the plot; a panel's title and legend are above it */
	int title_y;		/* of a panel: the baseline of its title */
};

struct chart {
	const struct summary *sum, *ghost;
	const uint64_t *lines;	/* the input's */
	int64_t end_us;		/* of the time axis: the longer of both builds */
	size_t n_facts;
	struct fact fact[CHART_FACTS_MAX];
	struct panels panels;	/* the input's, but with axes of their own */
	struct panels ghost_panels;
	struct lanes lanes;
	struct works works;	/* the colours of tasks */
	struct pieces pieces;
	struct chain chain;
	struct queue queue;
	struct answer answer;	/* the verdict: n is 0 if there is nothing to say */
	const struct chart_other *other;	/* the input's */
	bool has_queue;		/* of some task it is known when it could have run */
	struct place panel_place[PANELS];	/* by index in panels */
	struct legend panel_legend[PANELS];
	struct place *row_place;		/* by row; none: no task ran */
	struct legend kinds, marks;		/* at the bottom */
	int time_y;		/* the time axis between panels and lanes: baseline */
	int lanes_y, lanes_height;	/* of all rows */
	int time_end_y;		/* the time axis below the lanes */
	int height;
};

/* 0 or -ENOMEM. Always release. It borrows what is in the input. */
int chart_make(struct chart *c, const struct chart_input *in);
void chart_release(struct chart *c);

/* Whether a panel has more points than columns: then a column shows the least to the most of
 * several. */
bool chart_is_dense(const struct panel *p);

/* Top and height of a lane's bars, in the picture. */
struct lane_place {
	double y, height;
	bool nest;		/* as its row */
};
struct lane_place chart_lane(const struct chart *c, uint32_t lane);

#endif
