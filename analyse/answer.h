/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_ANSWER_H
#define BUILDBEAT_ANALYSE_ANSWER_H

#include "analyse/chain.h"
#include "analyse/idle.h"
#include "analyse/summary.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Why the build took so long, in at most ANSWER_MAX sentences. They come from what was recorded
 * alone; if nothing explains a good part of the time, there are none. A failure comes first, then a
 * build that hangs, then what explains most of the time. `show`, its JSON output and the charts print the same sentences.
 * An advice can be added behind them, by rerun/advise.h.
 */
#define ANSWER_MAX 3

enum answer_about {
	ANSWER_FAILED,		/* the build failed or was killed */
	ANSWER_CURRENT,		/* nothing was out of date */
	ANSWER_IDLE,		/* nothing happens, or happened before the build was ended */
	ANSWER_ALONE,		/* one task ran alone */
	ANSWER_WAITED,		/* a task used next to no CPU */
	ANSWER_LATE,		/* a task was ready, but started so late that the end waited for it */
	ANSWER_NOTHING,		/* no task ran */
	ANSWER_FEW,		/* few tasks ran at the end; no dependencies were recorded */
	ANSWER_LTO,		/* GCC's link-time optimisation, a build inside the task that links */
	ANSWER_OTHERS,		/* other processes used the CPU */
	ANSWER_CORES,		/* the build itself used it */
	ANSWER_WORKERS,		/* ready tasks waited for a worker, and cores were free */
	ANSWER_DEPENDENCIES,	/* tasks waited for what others made */
	ANSWER_LOAD,		/* ready tasks waited for the limit of the load average */
	ANSWER_POOL,		/* ready tasks waited for a pool of ninja */
	ANSWER_MEMORY,		/* programs waited for memory, or were killed because it ran out */
	ANSWER_DISK,		/* programs waited for disks */
	ANSWER_UNUSED,		/* cores were idle, and why is not known */
	ANSWER_ADVICE,		/* what would make the build faster */
	ANSWER_ABOUTS
};

/* "failed", "alone" ...: in JSON outputs. */
extern const char *const answer_word[ANSWER_ABOUTS];

struct answer_sentence {
	enum answer_about about;
	char *text;		/* UTF-8, safe to print, with a full stop; no markup */
	int64_t from_us, until_us;	/* what to zoom to, -1: the whole build */
	uint32_t task;		/* what to select, NO_INDEX: no single task */
	int64_t explains_us;	/* of the wall time; -1: not known */
};

struct answer {
	size_t n;
	struct answer_sentence sentence[ANSWER_MAX + 1];
};

/* 0 or -ENOMEM. Always release. c is of s, and idle of its recording. */
int answer_make(struct answer *a, const struct summary *s, const struct chain *c, const struct idle *idle);
void answer_release(struct answer *a);

#endif
