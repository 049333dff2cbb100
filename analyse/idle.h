/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_IDLE_H
#define BUILDBEAT_ANALYSE_IDLE_H

#include "base/buf.h"
#include "recording/recording.h"

#include <stddef.h>
#include <stdint.h>

/*
 * A build that hangs. Tasks run, and for IDLE_LEAST_US or longer no task began or ended, and no process of
 * a task used a disk or CPU time worth counting. Nothing was written either, if the output is recorded. Samples
 * alone (task.still_ms) decide: without those of each running task no build is idle.
 *
 * Of a build that ended otherwise than well, the time before its end counts.
 */
#define IDLE_LEAST_US 30000000

struct idle {
	int64_t us;		/* 0: it is not idle; the rest is not filled in then */
	int64_t since_us;
	uint32_t task;		/* that was the first to become idle */
	size_t n_tasks;		/* that run, all of them idle */
	bool output;		/* the output is recorded, too */
	bool ended;
	/* A process of the task, if somebody has looked: report/idle_look.h. */
	int32_t pid;		/* 0: nobody has */
	uint64_t start_ticks;
	char process[200];	/* "sleep is in clock_nanosleep()", safe to print */
};

void idle_find(struct idle *i, const struct recording *rec);

/* Since when the processes of a task that runs do next to nothing; -1: not known. */
int64_t idle_task_since_us(const struct task *t);

/* Did the task run when the build ended, or does it run now? Not one that hosts a build tool. */
bool idle_may_be(const struct recording *rec, const struct task *t, bool ended);

/* "Idle for 32m 24s: task hang uses no CPU time and no disk, and writes nothing; its process sleep is
 * in clock_nanosleep()": a sentence without its full stop, safe to print. */
void idle_words(struct buf *b, const struct idle *i, const struct recording *rec);

#endif
