/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_CACHE_COUNTS_H
#define BUILDBEAT_ANALYSE_CACHE_COUNTS_H

#include "recording/recording.h"

#include <stdbool.h>
#include <stdint.h>

/* The calls of a compiler cache during a build, as counted in `build`. */
struct cache_counts {
	int64_t hits, misses, uncacheable;
};

#define CACHES 2
extern const char *const cache_counts_name[CACHES];	/* "ccache", "sccache" */

/* False: nothing was recorded of this one. */
bool cache_counts_get(struct cache_counts *c, const struct recording *rec, int cache);

/* The share of hits among hits and misses, 0 to 1; -1: there were none. */
double cache_counts_share(const struct cache_counts *c);

#endif
