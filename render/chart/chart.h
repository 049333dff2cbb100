#ifndef BUILDBEAT_CHART_CHART_H
#define BUILDBEAT_CHART_CHART_H

#include "chain.h"
#include "lanes.h"
#include "match.h"
#include "panel.h"
#include "pieces.h"
#include "summary.h"

#include <stddef.h>
#include <stdint.h>

/*
 * The bootchart as plain structs: all that is decided before anything is written.
 * Positions are in pixels of the static picture, which is CHART_WIDTH wide; with
 * script the picture is as wide as its window.
 */
#define CHART_WIDTH 1280
#define CHART_PLOT_X 84		/* left of it: labels, axes */
#define CHART_PLOT_RIGHT 56	/* right of it: the right axes */
#define CHART_PLOT_WIDTH (CHART_WIDTH - CHART_PLOT_X - CHART_PLOT_RIGHT)
#define CHART_PIECES_MAX 14000

struct chart_input {
	const struct summary *sum;
	const struct summary *ghost;	/* the build to compare with, or NULL */
	enum lanes_by by;
};

struct fact {
	const char *label;	/* "host" ...; NULL: the headline */
	char *text;
};

#define CHART_FACTS_MAX 16

/* A panel's or row's place. */
struct place {
	int y, height;		/* of the plot; a panel's title and legend are above it */
};

struct chart {
	const struct summary *sum, *ghost;
	int64_t end_us;		/* of the time axis: the longer of both builds */
	size_t n_facts;
	struct fact fact[CHART_FACTS_MAX];	/* what was built, host, date, command,
						   revision, result, totals, doubts */
	struct panels panels, ghost_panels;
	struct lanes lanes;
	struct pieces pieces;
	struct chain chain;
	struct match match;	/* empty without ghost */
	struct place panel_place[PANELS];	/* by index in panels */
	struct place *row_place;		/* by row */
	int time_y;		/* the time axis between panels and lanes */
	int legend_y;		/* of the kinds */
	int height;
};

/* 0 or -ENOMEM. Always release. It borrows what is in the input. */
int chart_make(struct chart *c, const struct chart_input *in);
void chart_release(struct chart *c);

/* Top and height of a lane within its row. */
struct lane_place {
	double y, height;
};
struct lane_place chart_lane(const struct chart *c, uint32_t lane);

#endif
