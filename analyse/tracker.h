/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_TRACKER_H
#define BUILDBEAT_ANALYSE_TRACKER_H

#include "analyse/chain.h"
#include "analyse/summary.h"

#include <stddef.h>
#include <stdint.h>

/*
 * What a build used over time, divided by groups of its tasks: stacked areas whose sum is the
 * total at each point.
 *
 *	TRACKER_RUNNING		tasks at once, as summary.running
 *	TRACKER_WAITING		tasks that wait in the queue of their host, as wait_curve()
 *	TRACKER_CPU		cores, as used_pieces_make(): CPU time of the hosts too
 *	TRACKER_MEMORY		KiB of the processes of all tasks, as summary.memory_kb
 *	TRACKER_READ, TRACKER_WRITTEN	bytes of storage in a second, as TRACKER_CPU
 *
 * A point is a part of the time. Its value is the mean; of memory it is the level at the moment at
 * which the total is largest.
 */
enum tracker_metric {
	TRACKER_RUNNING, TRACKER_WAITING, TRACKER_CPU, TRACKER_MEMORY, TRACKER_READ,
	TRACKER_WRITTEN, TRACKER_METRICS
};

enum tracker_by {
	TRACKER_KIND, TRACKER_PROGRAM, TRACKER_RECIPE, TRACKER_DIRECTORY, TRACKER_TASK,
	TRACKER_BYS
};

extern const char *const tracker_metric_word[TRACKER_METRICS + 1];	/* "running" ... NULL */
extern const char *const tracker_by_word[TRACKER_BYS + 1];		/* "kind" ... NULL */

struct tracker;

/* s and q must live longer; rec->usage must have been read. NULL: out of memory. */
struct tracker *tracker_new(const struct summary *s, const struct waits *q);
void tracker_free(struct tracker *t);	/* may be NULL */

/* The number of the group of each task, and their names, "" for tasks without any. */
struct tracker_groups {
	size_t n;
	const char *const *name;
	const uint32_t *of_task;
	const uint32_t *n_tasks;	/* of each group, of those that ran */
};

/* Made when first asked for. 0 or -ENOMEM. */
int tracker_groups(struct tracker *t, enum tracker_by by, struct tracker_groups *out);

#define TRACKER_POINTS_MAX 1000
#define TRACKER_TOP_MAX 40

struct tracker_query {
	enum tracker_metric metric;
	enum tracker_by by;
	int64_t from_us, until_us;	/* from < until */
	size_t n_points;	/* 1 to TRACKER_POINTS_MAX; there are fewer if the time is short */
	size_t top;		/* how many groups have a series of their own */
	const char *only;	/* NULL, or the name of the one group that has */
};

enum tracker_role {
	TRACKER_GROUP,
	TRACKER_OTHERS,		/* all further groups */
	TRACKER_HOSTS,		/* the build tools themselves: of no task */
	TRACKER_OVERHEAD,	/* buildbeat itself: not in the total */
};

struct tracker_series {
	const char *name;	/* of the group; "" for other roles */
	enum tracker_role role;
	size_t n_groups, n_tasks;
	double sum;		/* level times microseconds */
	double at_peak;		/* value of the point at which the total is largest */
	double *value;		/* of each point, in the memory of the view */
};

struct tracker_view {
	struct tracker_query query;
	bool known;		/* false: this metric was not recorded */
	size_t n;		/* points, of equal width to the microsecond */
	int64_t *edge_us;	/* n + 1 */
	int64_t *moment_us;	/* of each point, only of memory; otherwise NULL */
	double *total;		/* of each point */
	double sum;
	size_t peak;		/* the point at which the total is largest */
	size_t n_series;	/* groups with the largest sum first, then the other roles, those
				   that are never above 0 left out */
	struct tracker_series series[TRACKER_TOP_MAX + 3];
	size_t n_peak;		/* all groups with most at the peak, the largest first */
	struct tracker_share {
		const char *name;	/* as above */
		enum tracker_role role;
		double value;
	} at_peak[TRACKER_TOP_MAX];
};

/* 0, -EINVAL or -ENOMEM. Always release. Texts belong to the tracker. */
int tracker_view_make(struct tracker_view *v, struct tracker *t, const struct tracker_query *q);
void tracker_view_release(struct tracker_view *v);

#endif
