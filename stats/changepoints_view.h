/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_STATS_CHANGEPOINTS_VIEW_H
#define BUILDBEAT_STATS_CHANGEPOINTS_VIEW_H

#include "stats/changepoints.h"
#include "stats/partition.h"

/*
 * What changepoints_find() found its change points in, for creep.c: valid until its next
 * call, and only if that one found any. Values are in units of the noise, around 0, what
 * sticks out cut off.
 */
struct changepoints_view {
	size_t n;
	const uint32_t *build;	/* of each value */
	const double *calm;
	size_t n_levels;
	const uint32_t *start;	/* of the levels: index into calm */
	const struct partition *partition;	/* has calm loaded */
	double inflation;	/* the variance of the rest that may be chance, at least 1 */
};

void changepoints_view(struct changepoints_view *v, const struct changepoints *c);

/* Such a value in the series' unit, and the effect as of struct change between two. */
double changepoints_amount(const struct changepoints *c, double calm);
double changepoints_effect(const struct changepoints *c, double before, double after);

#endif
