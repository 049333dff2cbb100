/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_COMPARE_LIMITS_H
#define BUILDBEAT_COMPARE_LIMITS_H

#include "analyse/metric.h"

#include <stddef.h>

struct values;

/*
 * Absolute limits on one build, without a history: the key `limits` of buildbeat.yaml. If several
 * limits on a metric fit a task, the last one applies.
 */
struct limit {
	const char *pattern;	/* of task names, as fnmatch(3) without flags; "" is the
				   whole build */
	enum metric metric;
	double most;		/* allowed, in the metric's unit */
};

struct limits {
	size_t n;
	const struct limit *limit;	/* not owned */
};

struct limits_excess {
	const struct limit *limit;
	const char *task;	/* of the values; "" is the whole build */
	double value;
};

struct limits_check {
	const struct limits *limits;
	size_t n;
	struct limits_excess *excess;	/* by limit, then the largest value first */
	size_t *tasks;		/* of each limit: number of values it applies to */
};

/*
 * Compares a build with the limits. Values of failed, killed and unfinished tasks and builds count
 * too, because the complete value would be at least as large. limits and f must outlive c.
 * Returns 0 or -ENOMEM. Always release.
 */
int limits_check(struct limits_check *c, const struct limits *limits, const struct values *f);
void limits_check_release(struct limits_check *c);

#endif
