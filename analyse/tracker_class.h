/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_TRACKER_CLASS_H
#define BUILDBEAT_ANALYSE_TRACKER_CLASS_H

#include "analyse/tracker.h"

/* The groups of the tracker as tables: all of them at a time, and one of them with its tasks. */

struct tracker_row {
	uint32_t group;		/* of struct tracker_groups; its n: the hosts */
	uint32_t n_tasks;	/* that have a part in the total */
	double total;
};

struct tracker_table {
	size_t n;		/* groups with a total above 0, the largest first */
	struct tracker_row *row;
	double total;
	bool known;
};

/* The mean from a time until another, or with from_us == until_us the level at that moment; units as
 * in tracker.h. 0 or -ENOMEM. Always release. */
int tracker_table_make(struct tracker_table *out, struct tracker *t, enum tracker_by by,
		       enum tracker_metric metric, int64_t from_us, int64_t until_us);
void tracker_table_release(struct tracker_table *table);

struct tracker_stat {
	size_t n;		/* of which it is known; 0: the others are -1 */
	int64_t sum, min, median, max;
};

struct tracker_class {
	size_t n;		/* tasks that ran, by their start */
	uint32_t *task;
	uint32_t *sorted;	/* the same in another order, after tracker_class_sort() */
	struct tracker_stat stat[VALUES];	/* not of VALUE_START */
};

/* -ENOENT: there is no such group. 0 or -ENOMEM. Always release. */
int tracker_class_make(struct tracker_class *c, struct tracker *t, enum tracker_by by,
		       const char *name);
void tracker_class_release(struct tracker_class *c);

/* How many of its tasks ran at some time in each of n stretches, which end where the next begins. */
void tracker_class_running(uint32_t *n_tasks, const struct tracker_class *c, const struct tracker *t,
			   const int64_t *edge_us, size_t n);

/* Fill `sorted`: the largest value first, or the smallest with `up`; tasks whose value is not known come last,
 * and equal ones are by their start. 0 or -ENOMEM. */
int tracker_class_sort(struct tracker_class *c, const struct tracker *t, enum value by,
		       bool up);

#endif
