/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RERUN_CURVE_H
#define BUILDBEAT_RERUN_CURVE_H

#include "rerun/forecast.h"

#include <stddef.h>
#include <stdint.h>

/* Wall time and memory with one more worker at each point. */
struct rerun_point {
	int64_t jobs;
	int64_t wall_us;
	int64_t memory_kb;	/* of all tasks at once; -1: unknown */
};

struct rerun_curve {
	size_t n;
	struct rerun_point *point;
	size_t knee;		/* the fewest workers with which the build is nearly as fast as with the best number */
	size_t best;
};

#define RERUN_KNEE 0.03	/* a share of the wall time: "nearly" in `buildbeat whatif` */
#define RERUN_JOBS_MAX 1024

/* From `least` to `most` workers. 0 or a negative errno with err. Always release. */
int rerun_curve_make(struct rerun_curve *c, const struct rerun *r, const struct rerun_wish *w, int64_t least,
		      int64_t most, double knee, struct error *err);
void rerun_curve_release(struct rerun_curve *c);

/* The most workers with which, and with fewer of them, the memory is at most memory_kb; 0: not even one, -1:
 * memory is unknown. */
int64_t rerun_curve_safe(const struct rerun_curve *c, int64_t memory_kb);

#endif
