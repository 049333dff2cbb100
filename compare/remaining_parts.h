/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_COMPARE_REMAINING_PARTS_H
#define BUILDBEAT_COMPARE_REMAINING_PARTS_H

#include "base/arena.h"
#include "base/name_table.h"
#include "compare/remaining.h"

/* Private to remaining*.c. */
#define REMAINING_BINS 256
#define REMAINING_PLACES 13
#define REMAINING_NEW UINT32_MAX	/* a task that no earlier build has */

/* The tasks of a build that started, by their start. */
struct remaining_list {
	size_t n;
	uint32_t *task;		/* or REMAINING_NEW */
	int64_t *start_us, *end_us;	/* end INT64_MAX: it runs */
	uint32_t *by_end;
};

struct remaining_build {
	struct remaining_list list;
	int64_t wall_us;
	float *took_us;		/* of every task, NaN: not in this build */
	uint8_t *bin;		/* of every task: in which part of the build it started */
	uint32_t started[REMAINING_BINS];	/* tasks up to the end of a bin */
	double work_us[REMAINING_BINS + 1];	/* at the begin of each bin, and at the end */
	/* How it was predicted from the others at REMAINING_PLACES: logarithm of the true over
	 * the predicted time, NaN: not. */
	double error[REMAINING_PLACES];
	double share[REMAINING_PLACES];	/* of the time that had passed, as predicted */
};

struct remaining {
	struct arena *arena;
	struct name_table names;
	size_t n_tasks;
	struct remaining_task {
		const char *name, *kind;
	} *task;
	uint32_t *task_of;	/* of each name */
	size_t n_names;
	size_t n_builds;
	struct remaining_build build[REMAINING_BUILDS];	/* the oldest first */
	float *usual_us;	/* of every task: the median */
	/* at every place */
	double lasts[REMAINING_PLACES];	/* how much of the pace lasts: an exponent */
	double pace_spread[REMAINING_PLACES];	/* of the logarithm of the pace of earlier builds */
};

/* The tasks of a recording; with `add`, those not known are added to r. */
int remaining_list_make(struct remaining_list *list, struct remaining *r,
			const struct recording *rec, bool add);
void remaining_list_release(struct remaining_list *list);

/* How far a build has come, compared with every earlier one. */
struct remaining_progress {
	const struct remaining *r;
	const struct remaining_list *list;
	size_t n_started, n_ended;	/* of the list */
	size_t n_new;		/* of those that started */
	int64_t busy_us;	/* until when a task ran */
	double work_us[REMAINING_BUILDS];	/* of those that ended */
	double ran_us;		/* what these really took */
	uint32_t common[REMAINING_BUILDS];
	uint32_t in_bin[REMAINING_BUILDS][REMAINING_BINS];	/* common tasks */
};

/* What each earlier build says about the remaining time. */
struct remaining_view {
	double like[REMAINING_BUILDS];	/* how much this build is like it, 0 to 1 */
	double weight[REMAINING_BUILDS];	/* the same with its age, 0: itself; sum 1 */
	double left_us[REMAINING_BUILDS];	/* at the pace of that build */
	double whole[REMAINING_BUILDS];	/* 0 to 1: no tasks are skipped */
	double ln_pace[REMAINING_BUILDS];	/* of this build, relative to that one */
	double pace;		/* their mean */
	double typical_us;	/* mean of wall times */
	double overrun_us;	/* how long a task has run beyond its longest earlier run */
	bool late;
};

/* Of the builds before `until` except `except`. remaining_left(): with an exponent of the pace. */
void remaining_look(struct remaining_view *v, struct remaining_progress *p, int64_t elapsed_us,
		    size_t until, size_t except);
double remaining_left(const struct remaining_view *v, double lasts);

#endif
