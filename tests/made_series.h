/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_TESTS_MADE_SERIES_H
#define BUILDBEAT_TESTS_MADE_SERIES_H

#include "compare/builds.h"

/*
 * Generated builds, without an archive: tasks of many lengths, noise, and planted changes.
 * The same seed gives the same builds on every machine.
 */
struct made_change {
	size_t task;		/* MADE_ALL: every one */
	unsigned metrics;	/* METRIC_BIT()s; 0: all */
	size_t build;		/* from this build on */
	size_t until;		/* up to the build before this one; 0: permanent */
	double by;		/* 0.2: a fifth more; of a creep, at its end */
	bool creep;		/* grows with time */
};

#define MADE_ALL SIZE_MAX

struct made {
	uint64_t seed;
	size_t tasks, builds;
	double noise;		/* of a typical task: 0.03 */
	double uneven;		/* spread of the noise between tasks, of its logarithm */
	double spikes;		/* share of the values: 0.01. They are 30 % higher or more */
	double alike;		/* correlation with the build before */
	int student;		/* noise of Student's t with so many degrees of freedom; 0: normal */
	double recipe;		/* noise that the tasks of a recipe share: 0.02 */
	double host;		/* noise of the host, of times: 0.02 */
	double drift;		/* correlation of that with the build before */
	double couple;		/* correlation of the noise of wall and CPU time; spikes are in both
				   with this probability */
	double unlike;		/* spread of the part of the host's noise that a task shows, around 1 */
	double turbo;		/* slower by this part while the processor is throttled: in spells */
	double day;		/* slower by this part in half of the builds, as by day */
	double levels;		/* every task is slower by this part in spells of its own */
	size_t doubles;		/* from this build on the noise is twice as large; 0: never */
	double half;		/* share of the tasks that run in half of the builds */
	unsigned metrics;	/* METRIC_BIT()s that are made; 0: all */
	double missing;		/* share of the values */
	double passing;		/* share of the tasks that come or go with a build */
	const bool *quick;		/* of each task: takes .2 to .7 s; NULL: none does */
	double level_us;		/* of every task's wall time; 0: of many lengths, around 8 s */
	size_t n_changes;
	const struct made_change *change;
};

/* Tasks "recipe17: do_task3", one source tree "src". 0 or -ENOMEM; builds_release() it. */
int made_series(struct builds *builds, const struct made *made);

/* The default rules for wall and CPU time, without thresholds on amounts. */
void made_series_rules(struct rules *rules);

/* The stored values of a metric: values[task * n + build], for tests that change them. */
float *made_series_values(struct builds *builds, enum metric m);

#endif
