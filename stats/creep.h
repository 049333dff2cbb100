/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_STATS_CREEP_H
#define BUILDBEAT_STATS_CREEP_H

#include "stats/changepoints.h"

#include <stdbool.h>

/*
 * A value that drifts has no single change point. Several steps are found in it, some too
 * small to matter. Each run of change points in one direction is therefore compared with a
 * slope over at least CREEP_SHORTEST builds. The fit with the smaller residuals wins; a step
 * costs its penalty, and a slope one and a half times as much because it has two ends. A slope
 * over fewer than 28 builds costs as much as two steps, because two steps look like one. Steps
 * may be closer to each other here than in changepoints.h.
 */
#define CREEP_SHORTEST 14

struct creep {
	uint32_t begin, end;	/* the change points replaced, [begin, end) */
	struct change change;	/* from first to last, `at` is half way; p is the smallest
				   of the run, multiplied by their number */
};

/* Memory that is reused for many series. Returns NULL when out of memory. */
struct creep_finder *creep_finder_new(void);
void creep_finder_free(struct creep_finder *f);

/*
 * Finds slopes among the change points that c has just found, in order. *list belongs to f and
 * is valid until the next call. Returns 0 or -ENOMEM.
 */
int creep_find(struct creep_finder *f, const struct creep **list, size_t *n_list,
	       const struct changepoints *c, const struct change *change, size_t n_changes);

#endif
