/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_USED_H
#define BUILDBEAT_ANALYSE_USED_H

#include "analyse/summary.h"

#include <stddef.h>
#include <stdint.h>

/*
 * What the build itself used of the machine over time. proc_stat.log and proc_diskstats.log
 * contain all processes of the machine; the build's part comes from the first of these
 * that was recorded:
 *
 * - its control group, if the group used as much CPU time as the build in all. Otherwise the
 *   group contains other processes, too, such as those of a session or container.
 * - its tasks, with the values at their samples in proc_tasks.log. The rest of a task, which is
 *   known when it ends, was used after its last sample (CPU time) or evenly (storage). A task
 *   without samples used its part evenly. CPU time that no task used is that of the hosts: used
 *   where no task runs, otherwise evenly, as storage.
 *
 * It is unknown if USED_VAGUE of it is only known as a sum over more than USED_APART samples.
 */
enum used_source { USED_UNKNOWN, USED_GROUP, USED_TASKS };
enum used_what { USED_CPU, USED_STORAGE, USED_READ, USED_WRITTEN };	/* storage: both together */

#define USED_VAGUE 0.25
#define USED_APART 3

/*
 * amount[i]: microseconds of CPU time, or bytes, from time_us[i - 1] until time_us[i]; amount[0]
 * is 0. What was used before the first time or after the last one counts in the nearest stretch:
 * the sum is that of the build. *source says how far to trust it. 0 or -ENOMEM.
 */
int used_fill(double *amount, enum used_source *source, const struct summary *s,
	      enum used_what what, const int64_t *time_us, size_t n);

/* The amounts of each task, and of the hosts, by which USED_TASKS fills stretches: each was used
 * evenly from from_us until until_us, within the times. */
struct used_piece {
	int64_t from_us, until_us;
	double amount;
	uint32_t task;		/* NO_INDEX: of the hosts */
};

struct used_pieces {
	size_t n;
	struct used_piece *piece;
};

#define USED_PIECES_INIT { 0 }

/* The same of one task; *out has no others afterwards. 0 or -ENOMEM. */
int used_task_pieces(struct used_pieces *out, const struct summary *s, enum used_what what,
		     const int64_t *time_us, size_t n, uint32_t task);

/* Of any `what`. 0 or -ENOMEM. Always release. */
int used_pieces_make(struct used_pieces *out, const struct summary *s, enum used_what what,
		     const int64_t *time_us, size_t n);
void used_pieces_release(struct used_pieces *p);

#endif
