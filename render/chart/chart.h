/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RENDER_CHART_CHART_H
#define BUILDBEAT_RENDER_CHART_CHART_H

#include "analyse/answer.h"
#include "analyse/chain.h"
#include "analyse/inspected.h"
#include "analyse/output_excerpt.h"
#include "analyse/chain.h"
#include "analyse/summary.h"
#include "render/chart/differences.h"
#include "render/chart/lanes.h"
#include "render/chart/panels.h"
#include "render/chart/pieces.h"
#include "render/chart/works.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The bootchart as plain structs: everything that is decided before anything is written.
 * Positions are in pixels of the static picture, which is CHART_WIDTH wide. From the top: the
 * headline and facts, the verdict, the path, the time axis and the tasks, the panels, the
 * legends. A build of usual size has the shape of a sheet of A4 (CHART_HEIGHT).
 */
#define CHART_WIDTH 1280
#define CHART_HEIGHT 880
#define CHART_MARGIN 24
#define CHART_GUTTER_MAX 300	/* left of the plots: labels of rows, axes */
#define CHART_COLUMN 2		/* pixels: a plot shows means of points closer than that */
#define CHART_PIECES_MAX 14000
#define CHART_HEADLINE_Y 36

struct chart_input {
	const struct summary *sum;
	const struct panels *panels;	/* of sum */
	const struct chart_other *other;	/* or NULL */
	int64_t until_us;	/* the time axis ends there or later */
	enum lanes_by by;
	const uint64_t *lines;	/* of each task: lines of output on the page CHART_LOG_PAGE, or NULL */
	const struct output_excerpt *excerpt;	/* some of them, or NULL */
	const struct inspected *inspected;	/* processes with archives, or NULL */
	const char *archives;	/* what is before the paths of these in a link: "", or "/recording/" */
	bool served;		/* the page of a server shows it: the data has ids of tasks */
	bool running;		/* the build still runs, and its tasks without an end do */
};

/* The page beside the chart that has the build's output (report/log_page.h). */
#define CHART_LOG_PAGE "log.html"

/* What the header says: a label and behind it the text. */
struct fact {
	const char *label;	/* "host" ...; NULL: the headline */
	char *text;		/* safe to print */
	bool alarm;		/* it reports a problem */
	int x, y;		/* y: the baseline, 0: not in the header of the picture */
	int text_x, width;	/* of the text */
};

#define CHART_FACTS_MAX 16
#define FACT_SIZE 11.5		/* of the font, in pixels */
#define CHART_HEADLINE_SIZE 20
#define CHART_RESULT "result"	/* the label of the fact that is part of the headline */

/* A line of the verdict: a sentence, or a part of one that is too long. */
struct verdict_line {
	const char *text;	/* in a sentence of the answer */
	size_t len;
	bool first;		/* of its sentence */
	int y;			/* the baseline */
};

#define VERDICT_LINES_MAX 6
#define VERDICT_SIZE 14
#define VERDICT_INDENT 14	/* room for the bullet */

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
	int y, height;		/* of the plot; a panel's title and legend are above it. 0: it is
				   not drawn */
	int title_y;		/* of a panel: the baseline of its title */
};

struct chart {
	const struct summary *sum, *ghost;
	const uint64_t *lines;	/* the input's, as the next */
	const struct output_excerpt *excerpt;
	const struct inspected *inspected;
	const char *archives;
	bool served, running;
	const char *nonce;	/* of the script in a page, set after chart_make(); or NULL */
	int64_t end_us;		/* of the time axis: the longer of both builds */
	size_t n_facts;
	struct fact fact[CHART_FACTS_MAX];
	struct panels panels;	/* the input's, but with axes of their own */
	struct panels ghost_panels;
	struct lanes lanes;
	struct works works;	/* what the tasks do */
	struct differences differences;	/* empty without another build */
	struct pieces pieces;
	struct chain chain;
	struct answer answer;	/* the verdict: n is 0 if there is nothing to say */
	const struct chart_other *other;	/* the input's */
	struct lanes other_lanes;	/* of that build, by worker */
	struct pieces other_pieces;
	struct place other_place;	/* height 0: nothing to draw */
	bool has_phases;	/* some task has spans */
	bool has_queue;		/* of some task it is known when it could have run */
	size_t n_verdict;
	struct verdict_line verdict[VERDICT_LINES_MAX];
	int plot_x, plot_width;	/* of all plots */
	const char *path_title;	/* what its lane shows; NULL: there is no path */
	char *path_note;	/* how many tasks and waits, and the bound in words */
	int path_title_y;	/* the baseline */
	struct place path_place;
	struct place panel_place[PANELS];	/* by index in panels */
	struct legend panel_legend[PANELS];
	struct place *row_place;		/* by row; none: no task ran */
	struct legend kinds, marks;		/* at the bottom */
	int time_y;		/* the time axis above the lanes: baseline */
	int lanes_y, lanes_height;	/* of all rows */
	int time_end_y;		/* the time axis below the lanes */
	int height;
};

/* 0 or -ENOMEM. Always release. It borrows what is in the input. */
int chart_make(struct chart *c, const struct chart_input *in);
void chart_release(struct chart *c);

/* Whether the picture has it. It leaves out memory of the machine and of the control group where
 * the memory of the build beside the machine's says what matters. The page has all panels. */
bool chart_draws_panel(const struct chart *c, const struct panel *p);

/* Whether a panel has more points than columns: then a column shows the least to the most of
 * several. */
bool chart_is_dense(const struct chart *c, const struct panel *p);

/* From the left of the plots, in pixels. */
static inline double chart_x(const struct chart *c, int64_t us)
{
	return (double)us * c->plot_width / (double)c->end_us;
}

/* The places of everything; private to chart.c. 0 or -ENOMEM. */
int chart_place(struct chart *c);

/* What the colours of bars mean: what the tasks do, or how they differ from another build's. */
static inline const struct works *chart_colours(const struct chart *c)
{
	return c->other ? &c->differences.shades : &c->works;
}

/* Top and height of a lane's bars, in the picture. */
struct lane_place {
	double y, height;
	double gauge;		/* height of their part that shows CPU, above phases; 0: no room */
	double bracket;		/* room above them */
	double phases;		/* height of phases, at the bottom of the bars */
	bool nest;		/* as its row */
};
struct lane_place chart_lane(const struct chart *c, uint32_t lane);

#endif
