/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_COMPARE_HISTORY_H
#define BUILDBEAT_COMPARE_HISTORY_H

#include "compare/known.h"
#include "compare/builds.h"
#include "compare/rules.h"
#include "stats/changepoints.h"

/*
 * Since when which figure is another, over all builds, tasks and metrics: the change
 * points of every series once what all tasks of a build have in common (a slow host) is
 * taken out of times, those kept that the false discovery rate over all of them
 * allows and that pass the gates; slow creep, which has no build of its own; and
 * events: changes that may have been one.
 */

#define TASK_TOTAL UINT32_MAX		/* the build as a whole */
#define TASK_HOST (UINT32_MAX - 1)	/* what all tasks have in common */

struct history_change {
	uint32_t task;		/* index into builds.task, TASK_TOTAL or TASK_HOST */
	enum metric metric;
	bool creep;		/* a drift: from change.first to change.last */
	struct change change;	/* at, first, last: builds of `builds`; before, after: in the
				   metric's unit; effect; p becomes the rate it is told at */
	uint32_t event;		/* index into event */
	const struct known *known;	/* accepted or acknowledged, or NULL */
};

struct history_event {
	uint32_t at, first, last;	/* builds: the likeliest, and what all of its changes allow */
	size_t first_change, n_changes;	/* of history.change, by contribution */
	double contribution[METRICS];	/* sum of after - before over its tasks; the build's own
					   where only that changed */
	bool worse;		/* the largest of it is */
	bool host;		/* all tasks of the build have it, or the machine is another */
};

struct history {
	size_t n_changes;
	struct history_change *change;	/* event by event */
	size_t n_events;
	struct history_event *event;	/* the newest first */
	size_t n_series;		/* looked at */
	double *host[METRICS];	/* of every build, as a ratio; 1: as usual. NULL: no time */
};

/* task: no more than this one (index, TASK_TOTAL, TASK_HOST), of which changes by less than
 * metric_info's amount are told, too; or HISTORY_ALL. known may be NULL. 0 or a negative
 * errno with err. Always release. The same archive gives the same, whatever the number of
 * processors. */
#define HISTORY_ALL (UINT32_MAX - 2)

int history_find(struct history *h, const struct builds *builds, const struct rules *rules,
		 const struct known_list *known, uint32_t task, struct error *err);
void history_release(struct history *h);

/* One series as it was looked at: n builds' values, NaN where there is none. Of a task
 * that is all builds of a metric read again. 0 or a negative errno with err. */
int history_series(const struct history *h, const struct builds *builds, uint32_t task,
		   enum metric m, double *values, struct error *err);

#endif
