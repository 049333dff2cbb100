#ifndef BUILDBEAT_CPUTIME_H
#define BUILDBEAT_CPUTIME_H

#include "event.h"

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
 * Of a thread that never slept, everything is known: it ran whenever it did not wait for
 * a processor. Of one that slept, what it used after it ran last is missing, which is
 * less than a tick. The end, in which memory is given back, is measured, but the process
 * may have been interrupted in it: it counts at most what it usually takes for processes
 * of that size.
 */

#define CPUTIME_SIZES 40

struct cputime {
	int64_t tick_us;
	int64_t usual_us[CPUTIME_SIZES];	/* of an end, by size; 0: not known yet */
};

/* What taskstats reports of a thread. */
struct cputime_thread {
	int64_t run_us;		/* added up so far; -1: the kernel does not do that */
	int64_t age_us;		/* since it was born */
	int64_t wait_us;	/* for a processor */
	bool slept;
};

void cputime_init(struct cputime *c);

/*
 * What a thread used up to its report; wall_us is that of its whole life up to its end,
 * -1 where unknown. -1: unknown.
 */
int64_t cputime_of_thread(const struct cputime *c, const struct cputime_thread *t,
			  int64_t wall_us);

/* What a process of a peak memory used between the report of its last thread and its
 * end, when so much time passed. */
int64_t cputime_of_end(struct cputime *c, int64_t elapsed_us, int64_t rss_kb);

/*
 * A living process, or one nobody has waited for: what all its threads used, also those
 * that have ended. -1: there is none of that number.
 */
int64_t cputime_of_process(int32_t pid);

/*
 * As the kernel does for wait4(2): cpu_us is right, user and system are in the proportion
 * of the clock ticks in *e. Without any, all of it is user time.
 */
void cputime_split(struct event_end *e, int64_t cpu_us);

#endif
