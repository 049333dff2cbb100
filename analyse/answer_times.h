/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_ANSWER_TIMES_H
#define BUILDBEAT_ANALYSE_ANSWER_TIMES_H

#include "analyse/chain.h"

/* The times of a build that its verdict is made of (answer.h). Tasks that host count as running
 * only where this says so. Private to answer*.c. */

/* A time, and its length without what interrupts it. until_us -1: there is none. */
struct answer_span {
	int64_t from_us, until_us, us;
	uint32_t task;		/* NO_INDEX: none */
};

struct answer_times {
	int64_t nothing_us;	/* no task ran */
	struct answer_span nothing;	/* the longest such time, and the innermost task that hosts
					   and ran all the while */
	int64_t alone_us;	/* exactly one task ran */
	struct answer_span alone;	/* the task of which that is true longest */
	struct answer_span few;	/* to the end: few tasks ran at a time; .us: by how much shorter it
				   would be with as many as ever ran at once; .task: that ran longest
				   then */
	int64_t few_task_us;	/* for so long */
	int64_t few_most;	/* this many at most */
	struct answer_span waited[QUEUE_CAUSES];	/* at least one task waited for it; the task
							   that waited longest */
	struct answer_span lto;	/* tasks that host GCC's link-time optimisation ran; the longest */
};

/* 0 or -ENOMEM. */
int answer_times_fill(struct answer_times *t, const struct summary *s, const struct waits *q);

/* The kind of task that used most of the CPU time, and its share of that of all tasks; NULL: none is known. */
const char *answer_times_kind(const struct summary *s, double *share);

/* How long all cores together did nothing, as sampled; -1: unknown. */
int64_t answer_times_idle_us(const struct summary *s, int64_t from_us, int64_t until_us);

#endif
