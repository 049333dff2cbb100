/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_PROCESS_TREE_H
#define BUILDBEAT_ANALYSE_PROCESS_TREE_H

#include "base/arena.h"
#include "base/error.h"
#include "recording/process_log.h"
#include "recording/recording.h"

#include <stddef.h>
#include <stdint.h>

/*
 * The processes of a recording (processes.log), each with the one that started it and the task for
 * which it worked: that whose process it or the nearest of its ancestors was.
 */
#define PROCESS_TREE_SLACK_US 100000	/* hosts record the start and the end of a task late */

struct tree_process {
	int32_t pid, parent_pid;
	uint32_t parent;	/* index, before its own; NO_INDEX: it is not in the list */
	uint32_t task;		/* of the recording, NO_INDEX: none is known */
	int64_t start_us, end_us;
	int64_t exec_us;	/* age at its exec, -1: a copy of its parent */
	int64_t outlived_us;	/* how long it lived after the end of its task; 0: it did not, within
				   PROCESS_TREE_SLACK_US */
	bool runs;		/* it still ran when the recording ended */
	const char *command;	/* as recorded, without escapes */
	int32_t status;		/* wait(2) status, -1: unknown */
	int64_t user_us, system_us, max_rss_kb;	/* -1: unknown */
	int64_t delay_us;	/* run-queue delay, -1: unknown */
};

struct process_tree {
	struct arena *arena;
	size_t n;		/* by start, parents before children */
	struct tree_process *process;
	size_t n_outlived;
	uint64_t n_lost;	/* events about processes that are missing */
};

/* Of the recording rec in the directory path; codec (may be NULL) unpacks its files. A recording
 * without processes has 0. 0 or a negative errno with err. Always release. */
int process_tree_read(struct process_tree *t, const char *path, const struct recording *rec,
		      const struct recording_codec *codec, struct error *err);
void process_tree_release(struct process_tree *t);

#endif
