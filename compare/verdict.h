/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_COMPARE_VERDICT_H
#define BUILDBEAT_COMPARE_VERDICT_H

#include "compare/history.h"

/*
 * The newest builds against those before: what `check` says. What all tasks have in common
 * is taken out of times first. Then a series, a metric of a task, is judged in two ways: its
 * newest `agree` builds against the level they are compared with, and by the change points
 * of the window, if what they changed still stands.
 *
 * How unlikely a build is comes from Student's t, with a variance shrunk towards that of
 * tasks as long (stats.h), or from how often builds of the window were as far off
 * (tails.h), whichever makes it more likely; that of several builds running is the product, as
 * far as such builds come by chance. Of all that are told to be worse the false ones are
 * rules.rate at most, and of those told to be better (Benjamini and Hochberg over all
 * series). What is told passes the gates as well.
 */
enum verdict_state {
	FINDING_CONFIRMED,
	FINDING_KNOWN,		/* confirmed and acknowledged */
	FINDING_SUSPECT,	/* the newest build alone says so */
};

struct verdict_finding {
	uint32_t task;		/* index into builds.task, TASK_TOTAL or TASK_HOST */
	enum metric metric;
	enum verdict_state state;
	bool worse;
	bool machine;		/* the machine or its tools are others since then: it may be that */
	uint32_t since, first, last;	/* first build of it, and the builds between which that is */
	uint32_t builds;	/* running that it is seen on */
	double before, now;	/* in the metric's unit, less what the host makes of it; of
				   TASK_HOST ratios, 1: as usual */
	double effect;		/* now / before - 1; infinite from 0 */
	double low, high;	/* interval of the effect, 95 % */
	double rate;		/* false discovery rate it is told at */
	const struct known *known;
};

/* What is a number and no measurement: told when it is not what it was the build before. */
struct exact_change {
	enum total total;	/* TOTAL_TASKS, TOTAL_FAILED, TOTAL_STATUS */
	int64_t before, now;
};

#define EXACT_TOTALS 3

struct verdict {
	uint32_t first_build;	/* of those looked at: all up to the newest */
	uint32_t n_builds;
	bool enough;		/* rules.least_history and rules.agree more */
	uint32_t more_builds;	/* until that is so; else until all that is suspect can be confirmed */
	size_t n_series;	/* judged */
	size_t n;
	struct verdict_finding *finding;	/* confirmed, known, suspect; each the worse before the better,
					   the host's and the build's before tasks', by metric, by amount */
	size_t n_confirmed, n_known, n_suspect;	/* of those that are worse; TASK_HOST's, which is
						   no regression, does not count */
	double host[METRICS];	/* of the newest build, as a ratio; 1.1: a tenth slower than usual.
				   NaN: no time, or not judged */
	bool host_event[METRICS];	/* which is more than its history explains */
	size_t n_exact;
	struct exact_change exact[EXACT_TOTALS];
};

/* known may be NULL. 0 or a negative errno with err. Always release. The same builds
 * give the same, whatever the number of processors. */
int verdict_make(struct verdict *v, const struct builds *builds, const struct rules *rules,
		 const struct known_list *known, struct error *err);
void verdict_release(struct verdict *v);

#endif
