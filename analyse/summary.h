/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_SUMMARY_H
#define BUILDBEAT_ANALYSE_SUMMARY_H

#include "analyse/cost.h"
#include "analyse/curve.h"
#include "analyse/host.h"
#include "recording/recording.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What a recording comes to, computed once; text, JSON and charts are outputs of
 * it. It borrows the recording. Sizes, times and costs are never negative, except
 * that -1 means unknown where a comment allows it.
 */

enum build_result {
	BUILD_OK,		/* exit status 0 */
	BUILD_FAILED,		/* status is the exit status */
	BUILD_KILLED,		/* status is the signal */
	BUILD_ENDED,		/* how is not known */
	BUILD_UNFINISHED,		/* no end was recorded: killed, or still running */
};

/* It did all that it was asked for, as far as is known. */
static inline bool build_is_good(enum build_result result)
{
	return result == BUILD_OK || result == BUILD_ENDED;
}

/*
 * What users name: all tasks of one name and key in one build instance. GNU make runs
 * every line of a recipe as a task of its own; they are one target.
 */
struct target {
	uint32_t first_task;	/* further ones by nesting.next */
	uint32_t n_tasks;
	int64_t start_us, end_us;
};

#define PEAK_TASKS_MAX 5
#define RUNNING_LEVELS_MAX 1025	/* in the histogram */

/* One task's share of the largest memory. */
struct peak_task {
	uint32_t task;
	int64_t memory_kb;
};

struct summary {
	const struct recording *rec;

	enum build_result result;
	int status;
	const char *reason;	/* why it failed, as the build tool said; NULL: unknown */
	int64_t wall_us;
	int64_t cores;		/* -1: not known */
	int64_t user_us, system_us, cpu_us;	/* -1: not known */
	bool cpu_exact;		/* of the build's process and all its descendants;
				   otherwise the sum of the tasks */
	int64_t read_bytes, written_bytes;	/* of storage, likewise; -1: unknown */
	bool at_least;		/* CPU and storage, as in struct cost */

	struct nesting *nest;	/* of every task of rec */
	size_t n_tasks;		/* without those whose start was lost and not their end: these are
				   among the lost ones */
	uint32_t *order;	/* these tasks by start, those never started behind them; then
				   the lost ones */
	size_t n_ran;		/* in front of order */
	uint32_t *by_end;	/* those that ran by end; at one time in the order of their start */
	int64_t step_us;	/* starts and ends of tasks are multiples of it: 1, 10, 100 ... or
				   a second; more digits of a time would be made up */
	size_t n_state[TASK_KILLED + 1];
	size_t n_hosting;	/* tasks that ran a make of their own */
	size_t n_said_no;	/* see task_said_no() */
	size_t n_targets;
	struct target *target;	/* by the start of their first task */

	struct curve running;	/* tasks at once, without those that host */
	int64_t running_sum_us;	/* their time added up, within the build */
	int64_t running_max;
	size_t n_levels;	/* cores + 1; 0: cores not known */
	int64_t *level_us;	/* time with 0, 1 ... n_levels - 1 or more running */

	struct curve memory_kb;	/* of all tasks at once */
	struct moment memory_peak_kb;	/* value -1: not sampled */
	size_t n_peak_tasks;
	struct peak_task peak_task[PEAK_TASKS_MAX];	/* the largest first */

	struct host host;
};

/* 0 or -ENOMEM. Always release. */
int summary_make(struct summary *s, const struct recording *rec);
void summary_release(struct summary *s);

/* Sum over the tasks of a target. */
struct cost summary_target_cost(const struct summary *s, const struct target *g);

/* The task of a target that took longest: it says what kind of work it is. */
uint32_t summary_main_task(const struct summary *s, const struct target *g);

/* CPU time per core and wall time, 0 to 1; -1: not known. */
double summary_cpu_share(const struct summary *s);

/* The share of the machine's CPU time, 0 to 1, that `us` of summary.host is; -1: unknown. */
double summary_host_share(const struct summary *s, int64_t us);

/* CPU time of all processes that are not the build's, while the machine was sampled; -1: unknown. Before
 * the end of a build, make's and ninja's own is part of it. */
int64_t summary_others_us(const struct summary *s);

/*
 * CPU time of the build that no recorded process used, such as that of processes that
 * lived between two polls of /proc. -1: unknown.
 */
int64_t summary_unseen_us(const struct summary *s);

/* How a build ended, from its `build` lines alone. */
enum build_result summary_build_result(const struct recording *rec, int *status);

/*
 * The task because of which the build failed, or NO_INDEX: the first that failed. bitbake ignores that a
 * setscene task fails; a task that hosts fails because of one in it. Without any, make stopped because
 * of the answer of its last probe.
 */
uint32_t summary_first_failure(const struct summary *s);

#endif
