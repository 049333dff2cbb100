/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_STATS_CREEP_H
#define BUILDBEAT_STATS_CREEP_H

#include "stats/changepoints.h"

#include <stdbool.h>

/*
 * Change points are steps; a figure that drifts has none, yet steps are what is found in
 * it, some of them too small to matter. So each run of change points in one direction is
 * held against a slope from one level to another over CREEP_SHORTEST builds or more: the
 * one that leaves over less wins, where every step costs what it cost to be found and a
 * slope half as much again, for its two ends.
 */
#define CREEP_SHORTEST 28

struct creep {
	uint32_t begin, end;	/* of the run of change points: end is not one of it */
	struct change change;	/* from first to last, half way at `at`; p is what one of
				   the run is told at, times their number */
};

/* Memory for series after series. NULL when out of memory; NULL is fine to free. */
struct creep_finder *creep_finder_new(void);
void creep_finder_free(struct creep_finder *f);

/*
 * Those among the change points that c has just found, in order. *list belongs to f and is
 * gone with the next call. 0 or -ENOMEM.
 */
int creep_find(struct creep_finder *f, const struct creep **list, size_t *n_list,
	       const struct changepoints *c, const struct change *change, size_t n_changes);

#endif
