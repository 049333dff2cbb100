/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_COMPARE_DIFF_PARTS_H
#define BUILDBEAT_COMPARE_DIFF_PARTS_H

#include "compare/diff.h"

/* A diff that is being made. Private to diff*.c. */
struct diff_making {
	struct diff *d;
	struct rules rules;	/* scaled */
	const char *filter;
	size_t n_runs;		/* of both sides, base first */
	uint32_t *row;		/* of every task in every run, or NO_ROW */
	double *factor;		/* common factor of each run, of the current metric */
	double *value;		/* scratch: two of n_runs */
	struct diff_value **tested;	/* the value of samples[i] */
};

#define NO_ROW UINT32_MAX

static inline const struct values *diff_run(const struct diff *d, size_t run)
{
	return run < d->n_runs[DIFF_BASE] ? &d->run[DIFF_BASE][run] :
	       &d->run[DIFF_NOW][run - d->n_runs[DIFF_BASE]];
}

static inline enum diff_side diff_side_of(const struct diff *d, size_t run)
{
	return run < d->n_runs[DIFF_BASE] ? DIFF_BASE : DIFF_NOW;
}

static inline size_t diff_first_run(const struct diff *d, enum diff_side s)
{
	return s == DIFF_BASE ? 0 : d->n_runs[DIFF_BASE];
}

/* Matches the tasks of all runs: fills row and task, except values. Returns 0 or -ENOMEM. */
int diff_match(struct diff_making *m);

void diff_find_unlike(struct diff *d);

/* Returns 0 or -ENOMEM. */
int diff_add_facts(struct diff *d);
int diff_add_packages(struct diff *d);

#endif
