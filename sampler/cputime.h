/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_SAMPLER_CPUTIME_H
#define BUILDBEAT_SAMPLER_CPUTIME_H

#include "recording/event.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The CPU time of a process that has ended.
 *
 * The scheduler adds a thread's run time up when it leaves a processor, and at clock
 * ticks. taskstats reports that sum while the thread still runs, before it gives its
 * memory back: a process shorter than a tick may be reported with a quarter of what
 * wait4(2) counts. The rest is computed from times that are known to the nanosecond.
 *
 * A thread that never slept ran whenever it did not wait for a processor, so its time is
 * known. For a thread that slept, the time used after the last update is missing, which is
 * less than a tick. The end, in which the kernel frees the memory, is measured, but the
 * process may have been interrupted in it: it counts at most as long as the end of a process
 * of that size usually takes.
 */

#define CPUTIME_SIZES 40

struct cputime {
	int64_t tick_us;
	int64_t usual_us[CPUTIME_SIZES];	/* of an end, by size; 0: not known yet */
};

/* What taskstats reports of a thread. */
struct cputime_thread {
	int64_t run_us;		/* added up so far; -1: not reported by this kernel */
	int64_t age_us;		/* since it was born */
	int64_t wait_us;	/* for a processor; -1: as run_us */
	bool slept;
};

void cputime_init(struct cputime *c);

/*
 * CPU time of a thread up to its report; wall_us is the time from its start to its end,
 * -1 if unknown. -1: unknown.
 */
int64_t cputime_of_thread(const struct cputime *c, const struct cputime_thread *t,
			  int64_t wall_us);

/* CPU time of a process with this peak memory between the report of its last thread and its
 * end, elapsed_us later. */
int64_t cputime_of_end(struct cputime *c, int64_t elapsed_us, int64_t rss_kb);

/*
 * CPU time of a process that runs or has not been waited for: the sum over all its threads,
 * also those that have ended. -1: no such process.
 */
int64_t cputime_of_process(int32_t pid);

/*
 * Split cpu_us into user and system time in proportion to the clock ticks in *e, as the kernel
 * does for wait4(2). Without any tick, all of it is user time.
 */
void cputime_split(struct event_end *e, int64_t cpu_us);

#endif
