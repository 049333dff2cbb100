/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_FREE_CORES_H
#define BUILDBEAT_ANALYSE_FREE_CORES_H

#include "analyse/summary.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * How long each task would have taken on a free core. A process that computes gets a part of a core
 * when more processes want to compute than there are cores:
 *	share(t) = min(1, cores / (demand(t) + others(t)))
 * demand: processes of the build that compute. Each running task counts with the cores that it would
 * use if they were free: its CPU time over its wall time and its share. The share and this are found in
 * turn, a few times. others: processes of others that compute, so many that they used what
 * /proc/stat says beyond the build's own CPU time. Where that is not known, there are none.
 *
 * A task that used CPU time C in a time W while it got the share f waited W - C/f for something
 * else than a core. That, and C on its threads, is what it needs. f is a little less than estimated, so that
 * the need is rather too short than too long.
 *
 * The run-queue delay of a task, if it is recorded, replaces f, and shows threads that had no core.
 * Without it, several threads that never had more than one core together look like one.
 */
struct free_cores {
	int64_t *need_us;	/* of each task of the recording: its wall time less the time that its
				   processes waited for a core; 0: it never ran. At most its wall
				   time, at least its CPU time on its threads. Of a task that hosts:
				   of the time in which no task inside it ran */
	float *threads;		/* of each task: how many of its processes compute at once, at least 1 */
	double cores;		/* of the machine, less what other processes used on average; 0: unknown */
	double others;		/* cores that other processes used on average, 0 if unknown */
	bool known;		/* false: the cores, or the CPU times of most tasks, are
				   unknown; need_us is the wall time */
	/* private: */
	size_t n_cells;		/* equal parts of the build */
	double cell_us;
	double *got_us;		/* until the start of each cell, and the end of the last one */
};

#define FREE_CORES_INIT { 0 }

/* 0 or -ENOMEM. Always release. */
int free_cores_make(struct free_cores *f, const struct summary *s);
void free_cores_release(struct free_cores *f);

/* How much of [from, until) a process that computes would have got a core, in us. */
int64_t free_cores_got_us(const struct free_cores *f, int64_t from_us, int64_t until_us);

#endif
