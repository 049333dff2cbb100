/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_COMPARE_PAIRS_H
#define BUILDBEAT_COMPARE_PAIRS_H

#include "analyse/summary.h"
#include "compare/diff.h"

/*
 * Which task of a build is which one of another: tasks of the same row of diff, renamed ones
 * too, in the order of their starts (a recipe of three lines is three tasks of one name).
 */
struct pairs {
	uint32_t *same;		/* of every task of `now`: index in base's recording, or NO_INDEX */
	size_t n_same;
	size_t n_only_now, n_only_base;	/* of those that ran */
	struct diff diff;	/* of wall times */
	struct values base, now;	/* private, of diff */
};

/* The summaries need not live as long as p. Returns 0 or -ENOMEM. Always release. */
int pairs_make(struct pairs *p, const struct summary *base, const struct summary *now);
void pairs_release(struct pairs *p);

/* The row of diff of each task of a run, by its place in sum->order; NO_INDEX: none. Free *of. Returns 0
 * or -ENOMEM. */
int pairs_rows(uint32_t **of, const struct diff *d, enum diff_side which,
	       const struct values *values, const struct summary *sum);

#endif
