/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_WAIT_H
#define BUILDBEAT_ANALYSE_WAIT_H

#include "analyse/needs.h"
#include "analyse/summary.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Why each task started when it did and not earlier. All outputs take it from here.
 *
 * A task was ready when its instance had begun, its targets were made and the line before it in
 * its recipe had ended. If it waited for none of these, it was ready when its host queued it; if
 * the host does not report that, when the instance began. Of tasks whose host records
 * neither, such as those of most imported files, the time is not known. Nor is it of those of OpenEmbedded's
 * buildstats, which show an order within each recipe only.
 *
 * The time from then to the start is its queue time. It is split in this order:
 *	QUEUE_DELAYED	until the host started its first task, it read its files; a command of
 *			$(shell) is part of that, so it waits for nothing itself
 *	QUEUE_ORDER	until the task had ended that the host runs before it in any case: the
 *			one before it with .NOTPARALLEL; of a target with several rules with
 *			double colons the rule before its own, which also what only the later
 *			rule needs waits for
 *	QUEUE_POOL	while its pool was full
 *	QUEUE_DELAYED	while make ran a command of $(shell), which it does alone
 *	QUEUE_WORKER	while as many tasks ran as its host may run at once
 *	QUEUE_DELAYED	what remains of the time before the host queued the task
 *	QUEUE_LOAD	the rest, if the host has a limit of the load average, it is longer than
 *			WAIT_REACTION_US and the recorded load does not contradict
 *	QUEUE_OTHER	otherwise the rest: the host reacted, or it is not known
 *
 * Workers are those of a make and all makes below it, or of one instance of another host. Their
 * number is that of -j; for ninja without -j it follows from the number of cores; otherwise
 * it is the largest number of tasks that ran at once. A task that hosts a make occupies a worker
 * while none of that make's tasks run.
 *
 * What it waited for last, `why`, is what ended last of these:
 *	WAIT_TARGET	of the targets that it waited for, the one made last, also through targets
 *			that are no tasks
 *	WAIT_LINE	the line before it in its recipe; of the first tasks of an instance the last task before it, in the same task
 *			("make -C a; make -C b") or beside it
 *	WAIT_HOST	of the first tasks of an instance, the task that it runs in: its start
 *	WAIT_ORDER, WAIT_POOL, WAIT_WORKER, WAIT_LOAD
 *			the task that ended last of those for which it waited so; WAIT_ORDER: of an
 *			OpenEmbedded recipe the task before it, if that ended at most
 *			WAIT_SLACK_OE_US before
 *	WAIT_SHELL	a command of $(shell)
 *	WAIT_UNKNOWN	a task that ended just before, and nothing says why that counted
 * If no dependencies were recorded, it is not known whether a task needed the one that ended just
 * before, or its worker: WAIT_UNKNOWN in place of WAIT_WORKER.
 *
 * A task waits only for tasks that ended before it started, give or take WAIT_STAMP_US:
 * hosts record a start before they have seen the end it waited for. So a host with one worker
 * waits for every task.
 */
#define WAIT_SLACK_US 100000
#define WAIT_SLACK_OE_US 200000		/* what bitbake may need between two tasks */
#define WAIT_STAMP_US 2000
#define WAIT_REACTION_US 20000		/* the time in which a host starts a task that is ready */

enum wait { WAIT_NONE, WAIT_TARGET, WAIT_LINE, WAIT_HOST, WAIT_WORKER, WAIT_UNKNOWN, WAIT_SHELL,
	    WAIT_POOL, WAIT_LOAD, WAIT_ORDER, WAITS };

/* "nothing", "target" ...: in JSON outputs and traces. */
extern const char *const wait_word[WAITS];

enum queue_cause {
	QUEUE_WORKER, QUEUE_POOL, QUEUE_LOAD, QUEUE_DELAYED, QUEUE_OTHER, QUEUE_ORDER, QUEUE_CAUSES
};

struct wait_task {
	int64_t ready_us;	/* -1: unknown, or it did not start; never after its start */
	int64_t us[QUEUE_CAUSES];	/* their sum is the queue time */
	uint32_t before;	/* the task it waited for last, or NO_INDEX; always one earlier
				   in summary.order, so following these ends */
	uint32_t line, order;	/* the task before it in its recipe, and by the host's own order, or
				   NO_INDEX: it would wait for them with any number of workers */
	enum wait why;
};

/* Whose workers an instance uses, its own or those of one around it, and how many these are. */
struct wait_workers {
	uint32_t scope;		/* an instance */
	int64_t jobs;
};

struct waits {
	struct wait_task *task;	/* of every task of the recording */
	struct wait_workers *workers;	/* of every instance */
	struct needs needs;
	bool has_dependencies;	/* false: none were recorded */
};

/* 0 or -ENOMEM. Always release. rec->after must have been read. */
int wait_make(struct waits *w, const struct summary *s);
void wait_release(struct waits *w);

/* The queue time of a task, -1: unknown. */
static inline int64_t wait_queue_us(const struct waits *w, const struct recording *rec,
				     uint32_t task)
{
	int64_t ready_us = w->task[task].ready_us;

	return ready_us < 0 ? -1 : rec->task[task].start_us - ready_us;
}

/* Add the known queue times to the costs of the tasks. */
void wait_add_queues(struct summary *s, const struct waits *w);

/* How many tasks wait, without those that wait for no more than WAIT_REACTION_US: the time in
 * which a host reacts. 0 or -ENOMEM. */
int wait_curve(struct curve *waiting, const struct summary *s, const struct waits *w);

#endif
