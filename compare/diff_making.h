/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_COMPARE_DIFF_MAKING_H
#define BUILDBEAT_COMPARE_DIFF_MAKING_H

#include "compare/diff.h"

/* Private to diff*.c. */

/* A diff while it is made. */
struct making {
	struct diff *d;
	const struct rules *rules;
	const char *filter;
	size_t n_runs;		/* of both sides, base first */
	uint32_t *row;		/* of every task in every run, NO_ROW */
	double *factor;		/* of each run, for the metric at hand: its times are so much
				   longer than usual */
	double *value;		/* scratch: two of n_runs */
	struct diff_figure **tested;	/* what samples[i] is of */
};

#define NO_ROW UINT32_MAX

static inline const struct values *run_at(const struct diff *d, size_t run)
{
	return run < d->n_runs[DIFF_BASE] ? &d->run[DIFF_BASE][run] :
	       &d->run[DIFF_NOW][run - d->n_runs[DIFF_BASE]];
}

static inline enum diff_side side_of(const struct diff *d, size_t run)
{
	return run < d->n_runs[DIFF_BASE] ? DIFF_BASE : DIFF_NOW;
}

static inline size_t first_of(const struct diff *d, enum diff_side s)
{
	return s == DIFF_BASE ? 0 : d->n_runs[DIFF_BASE];
}

/* Which task is which: fills row and task, but for figures. 0 or -ENOMEM. */
int diff_match(struct making *m);

/* Circumstances and packages. 0 or -ENOMEM. */
int diff_add_facts(struct diff *d);
int diff_add_packages(struct diff *d);

#endif
