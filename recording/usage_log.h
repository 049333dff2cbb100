/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RECORDING_USAGE_LOG_H
#define BUILDBEAT_RECORDING_USAGE_LOG_H

#include "base/buf.h"
#include "recording/event.h"
#include "recording/series.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The encoder of proc_tasks.log: what the process tree of every running task
 * uses, at every sample that changed something.
 *
 *   buildbeat proc_tasks 1 1000 rss:1MiB:g cpu:10ms:c pss:1MiB:g processes:1:g written:1KiB:c read:1KiB:c delay:1ms:c
 *
 * The first line has the columns. The other lines are samples, of which some end tasks.
 *
 *   0=4ds82k.17:12,3,,1;1=4ds82k.18:40,61,31,3,128
 *   0:3,99;1:,100,,,4
 *   +4 0-;1:-11,100
 *
 * Here a task begins.
 *
 *   2=4ds82k.19:7,1,,1
 *
 * Here all tasks are repeated.
 *
 *   =1=4ds82k.18:29,261,31,3,132;2=4ds82k.19:9,98,,1
 *
 * The first line and the times are those of series.h, and lines without a change are left out.
 * The rest of a line are entries, separated by ";":
 *   ALIAS=TASK:VALUES	the first sample of a task: ALIAS, a small number, means it in
 *			the following lines. All its columns were 0
 *   ALIAS:VALUES	the change of every column since the entry before
 *   ALIAS-		the task has ended; another task may get the number
 * VALUES: comma separated, zero empty, empty ones at the end left out. A task
 * without an entry is unchanged. A line with "=" in front of its entries has
 * all running tasks, with levels, and all earlier aliases end.
 *
 * A process counts once, for the innermost of the tasks around it: a task that
 * is a make of its own does not contain its running targets, nor the CPU time
 * and I/O of those that have ended. So tasks may be added up. Gauges are
 * those of the processes living at the sample; counters start at 0 with the task.
 *
 *   rss		summed resident memory.
 *   cpu		user and system time of living and waited-for processes.
 *   pss		summed proportional memory, in which shared pages count once. It is 0
 *			for one process, or if measuring it would take too long.
 *   written, read	storage I/O caused; 0 where /proc/PID/io may not be read.
 *   delay	run-queue delay: how long its threads were ready to run and waited for a
 *			processor, of those that samples saw. Missing if the kernel does not count it.
 */

#define USAGE_LOG_NAME "proc_tasks"
#define USAGE_TASK_ID_MAX (INSTANCE_ID_MAX + 24)	/* INST.SEQ and a NUL */

enum usage_column {
	USAGE_RSS, USAGE_CPU, USAGE_PSS, USAGE_PROCESSES, USAGE_WRITTEN, USAGE_READ,
	USAGE_DELAY, USAGE_COLUMNS
};

extern const struct series_column usage_columns[USAGE_COLUMNS];

/* What a slot of the table holds: one task at a time; its index is the alias. */
struct usage_slot {
	char task[USAGE_TASK_ID_MAX];	/* INST.SEQ, "" when free */
	int64_t level[USAGE_COLUMNS];	/* in the columns' units */
};

struct usage_writer {
	struct series_writer clock;
	struct usage_slot *written;	/* as written last, lent by the caller */
	size_t n_slots;
};

/* written: memory for n_slots slots that lives as long as the writer. */
void usage_writer_init(struct usage_writer *w, struct usage_slot *written, size_t n_slots,
		       int64_t interval_ms);

/* One sample at t_us of the n_slots slots, as at most one line (see series_add). */
void usage_add(struct usage_writer *w, struct buf *b, int64_t t_us,
	       const struct usage_slot *now, bool force);

/* See series_lost(). */
void usage_lost(struct usage_writer *w);

#endif
