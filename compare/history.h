/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_COMPARE_HISTORY_H
#define BUILDBEAT_COMPARE_HISTORY_H

#include "compare/known.h"
#include "compare/shared.h"
#include "compare/builds.h"
#include "compare/rules.h"
#include "stats/changepoints.h"

/*
 * When metrics changed, over all builds, tasks and metrics. The common factor of all tasks of a
 * build (a slow host) is removed from times; then the change points of every series are
 * found. Those that exceed the thresholds and the false discovery rate over all series are
 * reported, and also slow creep, which has no single build. Changes with possibly the same
 * cause are grouped into events.
 */

#define TASK_TOTAL UINT32_MAX		/* the build as a whole */
#define TASK_HOST (UINT32_MAX - 1)	/* the common factor of all tasks */
#define TASK_SHARED (UINT32_MAX - 2)	/* tasks that belong together (shared.h) */

struct verdict_finding;

struct history_change {
	uint32_t task;		/* index into builds.task, TASK_TOTAL, TASK_HOST or, of check,
				   TASK_SHARED */
	struct shared_group group;	/* of TASK_SHARED; of so many tasks that were compared */
	uint32_t tasks, of_tasks;	/* so many changed */
	enum metric metric;
	bool creep;		/* a gradual change from change.first to change.last */
	struct change change;	/* at, first, last are builds; before, after are in the
				   metric's unit; p is the false discovery rate */
	uint32_t event;		/* index into event */
	const struct known *known;	/* accepted or acknowledged, or NULL */
	const struct verdict_finding *finding;	/* of check, or NULL */
};

struct history_event {
	uint32_t at, first, last;	/* builds: the likeliest one; the interval of all changes */
	size_t first_change, n_changes;	/* in history.change, by contribution */
	double contribution[METRICS];	/* sum of after - before over its tasks; that of the
					   build if no task changed */
	bool worse;		/* the largest contribution is positive */
	bool host;		/* all tasks changed, or the machine did */
};

struct history {
	size_t n_changes;
	struct history_change *change;	/* event by event */
	size_t n_events;
	struct history_event *event;	/* the newest first */
	size_t n_series;		/* examined */
	double *host[METRICS];	/* factor of every build, 1: as usual. NULL: no time */
};

/* task: HISTORY_ALL, or one task (index, TASK_TOTAL, TASK_HOST), of which changes below the
 * threshold are reported too. known may be NULL. Returns 0 or a negative errno with err. Always
 * release. The result does not depend on the number of processors. */
#define HISTORY_ALL (UINT32_MAX - 3)

int history_find(struct history *h, const struct builds *builds, const struct rules *rules,
		 const struct known_list *known, uint32_t task, struct error *err);
void history_release(struct history *h);

/* The events of a series of builds: the changes of history_find(), and the findings of check, which
 * are in v, that are not among them. history and report list events by this function alone. h
 * points into v. Returns 0 or a negative errno with err. Always release both. */
struct verdict;
int history_make(struct history *h, struct verdict *v, const struct builds *builds,
		 const struct rules *rules, const struct known_list *known, uint32_t task,
		 struct error *err);

/* The values of one series as they were examined, NaN for missing ones. For a task this loads
 * the metric of all builds again. Returns 0 or a negative errno with err. */
int history_series(const struct history *h, const struct builds *builds, uint32_t task,
		   enum metric m, double *values, struct error *err);

#endif
