/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_COMPARE_REPEATED_BUILDS_H
#define BUILDBEAT_COMPARE_REPEATED_BUILDS_H

#include "compare/builds_memory.h"

struct changepoints;

/*
 * Builds with the noise that they would have if three times as many runs of each were recorded
 * (`record --repeat`). Their levels are those of `from`, between its change points. A part of the
 * noise differs between the runs of a set. It becomes the median of the noise of three builds that
 * are drawn from the whole series, the same three for all tasks. The part that the runs of a set
 * share remains.
 *
 * Sets know that part by the spread of their runs. Without sets it is taken to be all noise: more
 * than that cannot be gained.
 */
#define REPEATED_TIMES 3

struct repeated_builds {
	struct builds builds;	/* for power.h: it loads values and nothing else */
	uint32_t runs;		/* of each build */
	double share;		/* of the variance that differs between runs; NaN: unknown, all */

	const struct builds *from;
	uint32_t *good;		/* those that did not fail */
	size_t n_good;
	float *values[METRICS];	/* [task * n + build], once they are loaded */
	float *spread[METRICS];	/* the same of the runs */
	struct builds_memory memory;
	double *deviation, *level;	/* work, of each good build */
	struct changepoints *points;
};

/*
 * Loads values once. Returns 0 or a negative errno with err. Always release, before `from`; it must
 * not move.
 */
int repeated_builds_init(struct repeated_builds *r, const struct builds *from, struct error *err);
void repeated_builds_release(struct repeated_builds *r);

#endif
