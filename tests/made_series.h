/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_TESTS_MADE_SERIES_H
#define BUILDBEAT_TESTS_MADE_SERIES_H

#include "compare/builds.h"

/*
 * Builds that never were, without an archive: tasks of many lengths, noise, and changes
 * planted in it; the same from the same seed on every machine.
 */
struct made_change {
	size_t task;		/* MADE_ALL: every one */
	unsigned metrics;	/* METRIC_BIT()s; 0: all */
	size_t build;		/* from that one on */
	size_t until;		/* up to but not that one; 0: for good */
	double by;		/* 0.2: a fifth more; of a creep, at its end */
	bool creep;		/* the more the later */
};

#define MADE_ALL SIZE_MAX

struct made {
	uint64_t seed;
	size_t tasks, builds;
	double noise;		/* of the usual task: 0.03 */
	double uneven;		/* by how much tasks differ in that: of its logarithm */
	double spikes;		/* of the values: 0.01. They are 30 % higher or more */
	double alike;		/* correlation with the build before */
	bool heavy;		/* noise of Student's t with 3 degrees of freedom */
	double host;		/* noise of the host, in times: 0.02 */
	double missing;		/* of the values */
	double passing;		/* of the tasks: come or go with some build */
	double level_us;		/* of every task's wall time; 0: of many lengths, around 8 s */
	size_t n_changes;
	const struct made_change *change;
};

/* Tasks "recipe17: do_task3", one source tree "src". 0 or -ENOMEM; builds_release() it. */
int made_series(struct builds *builds, const struct made *made);

/* The values kept for a metric: values[task * n + build], to be spoiled by a test. */
float *made_series_values(struct builds *builds, enum metric m);

#endif
