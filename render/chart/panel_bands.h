/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RENDER_CHART_PANEL_BANDS_H
#define BUILDBEAT_RENDER_CHART_PANEL_BANDS_H

#include "render/chart/panels.h"

/* The table of the charts of proc_*.log files: the bands of each panel and their columns. */

/* How columns become a band's values. */
enum how {
	HOW_LEVEL,		/* gauges in base units */
	HOW_RATE,		/* growth of counters in a second */
	HOW_SHARE,		/* growth of times, of the time passed */
	HOW_CORES,		/* the same, of that of all cores */
	HOW_BUSIEST,		/* as HOW_SHARE, the largest of the columns */
	HOW_BUILD_CPU,		/* of the build alone (used.h), of that of all cores; it is taken
				   away from the next band */
	HOW_BUILD_DISK,		/* the same, of storage in a second */
	HOW_TASK,		/* memory of one of the largest tasks (largest.h) */
	HOW_TASKS,		/* of all tasks but those */
	HOW_VOLUME,		/* one column: more than its least level */
	HOW_EVENTS,		/* of tasks, not of samples */
};

#define BAND_TERMS_MAX 6

/* Is it known what the build used over time, apart from the machine. */
enum only { ONLY_ANY, ONLY_OWN, ONLY_ALL };

/* Columns of a name (as in column.h), added or taken away. */
struct term {
	const char *name;	/* NULL: no more */
	bool minus;
	bool maybe;		/* counts as 0 where it is not known */
};

struct band_plan {
	const char *id, *label, *meaning;	/* label NULL: the name of the task or volume */
	enum mark mark;
	bool right;
	enum colour colour;
	enum how how;
	struct term term[BAND_TERMS_MAX];
	bool quiet;		/* left out where it was 0 all the time */
	enum only only;
};

struct panel_plan {
	const char *word, *title;
	const char *series;	/* proc_stat ...; NULL: not of samples */
	enum axis_unit unit, right_unit;
	struct band_plan band[PANEL_BANDS_MAX];	/* up to one without id */
};

extern const struct panel_plan *const panel_plan[PANELS];

/*
 * A panel of samples: its points and its bands' values. The caller frees time_us
 * and gap; the values are in the memory of time_us. No band: n_bands is 0. The maxima
 * and means are not filled in. cores: what HOW_CORES is shares of. 0 or -ENOMEM.
 */
int panel_fill(struct panel *p, const struct panel_plan *plan, const struct summary *s,
	       int64_t cores);

#endif
