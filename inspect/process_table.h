/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_INSPECT_PROCESS_TABLE_H
#define BUILDBEAT_INSPECT_PROCESS_TABLE_H

#include "base/buf.h"
#include "inspect/live_build.h"
#include "inspect/process_list.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The rows of a list of processes: those of a build, or all of the machine, with their tasks,
 * command lines and what they wait for.
 */
#define PROCESS_TABLE_WAIT_MAX 48

struct process_row {
	const struct listed *process;
	const struct build_task *task;	/* NULL: none is known */
	bool of_build;
	const char *words;	/* its command line without secrets, "" if it cannot be read */
	int64_t read_kb, written_kb;	/* from and to disks, -1: no permission */
	char wait_channel[PROCESS_TABLE_WAIT_MAX];	/* function of the kernel, "": none, or no
							   permission */
};

struct process_table {
	struct process_list list;
	size_t n;		/* by pid */
	struct process_row *row;
	struct buf words;	/* private */
};

/* 0 or a negative errno. Always release. */
int process_table_init(struct process_table *t);
void process_table_release(struct process_table *t);

/*
 * Read the processes for which shown() is true; it is not asked about kernel threads. build may be
 * NULL. In t->list, those of the rows are selected. 0 or a negative errno.
 */
int process_table_read(struct process_table *t, const struct live_build *build,
		       bool (*shown)(void *context, const struct listed *p, bool of_build),
		       void *context);

#endif
