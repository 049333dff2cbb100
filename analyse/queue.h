/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_QUEUE_H
#define BUILDBEAT_ANALYSE_QUEUE_H

#include "analyse/chain.h"

#include <stddef.h>
#include <stdint.h>

/*
 * How long each task waited in its host's queue, and for what.
 *
 * A task was ready when the last task that it waited for had ended (chain.ready_us). If it
 * waited for none, it was ready when its host queued it; if the host does not report that, when
 * the host began. Nothing is known of tasks whose host records neither, such as those of
 * most imported files. A target of make without a recipe is no task: whoever waits for it alone
 * seems to be ready too early.
 *
 * The time from then to the start is split. The host's own delay comes first: until it started
 * its first task, it read its files. In the rest, the task waited for its pool while that was full.
 * Otherwise it waited for a worker (for make: a token of the jobserver) while all were busy.
 * What then remains of the time before the host queued the task is its delay, too. A host with a
 * limit of the load average that has free workers waits for the load, if that is longer than
 * CHAIN_REACTION_US and the recorded load does not contradict. The last part is the time in which
 * the host reacts.
 *
 * Workers are those of a make and all makes below it, or of one instance of another host. Their
 * number is that of -j; for ninja without -j it follows from the number of cores; otherwise
 * it is the largest number of tasks that ran at once. A task that hosts a make occupies a worker
 * while none of that make's tasks run.
 */
enum queue_cause {
	QUEUE_WORKER, QUEUE_POOL, QUEUE_LOAD, QUEUE_DELAYED, QUEUE_OTHER, QUEUE_CAUSES
};

struct queue_task {
	int64_t ready_us;	/* -1: unknown, or it did not start; never after its start */
	int64_t wait_us[QUEUE_CAUSES];	/* their sum is the queue time: from ready_us to the start */
};

struct queue {
	struct queue_task *task;	/* of every task of the recording */
};

/* 0 or -ENOMEM. Always release. c is of the same summary. */
int queue_make(struct queue *q, const struct summary *s, const struct chain *c);
void queue_release(struct queue *q);

/* How many tasks wait, without those that wait for no more than CHAIN_REACTION_US: the time in
 * which a host reacts. 0 or -ENOMEM. */
int queue_curve(struct curve *waiting, const struct summary *s, const struct queue *q);

/* The queue time of a task, -1: unknown. */
static inline int64_t queue_us(const struct queue *q, const struct recording *rec, uint32_t task)
{
	int64_t ready_us = q->task[task].ready_us;

	return ready_us < 0 ? -1 : rec->task[task].start_us - ready_us;
}

#endif
