/* SPDX-License-Identifier: MIT */
#include "analyse/cache_counts.h"

#include <stdio.h>

/* More is damage. */
#define CALLS_MAX 1000000000000

const char *const cache_counts_name[CACHES] = { "ccache", "sccache" };

static int64_t number(const struct recording *rec, int cache, const char *what)
{
	char key[32];
	int64_t n;

	snprintf(key, sizeof key, "%s_%s", cache_counts_name[cache], what);
	n = recording_build_number(rec, key);
	return n < CALLS_MAX ? n : -1;
}

bool cache_counts_get(struct cache_counts *c, const struct recording *rec, int cache)
{
	*c = (struct cache_counts){ number(rec, cache, "hits"), number(rec, cache, "misses"),
		number(rec, cache, "uncacheable") };
	return c->hits >= 0 && c->misses >= 0 && c->uncacheable >= 0;
}

double cache_counts_share(const struct cache_counts *c)
{
	return c->hits + c->misses ? (double)c->hits / (double)(c->hits + c->misses) : -1;
}
