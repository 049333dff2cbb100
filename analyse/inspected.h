/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_INSPECTED_H
#define BUILDBEAT_ANALYSE_INSPECTED_H

#include "recording/recording.h"

/* The processes of a build that were inspected, each with an archive in its recording. */
struct inspected_process {
	const char *archive;	/* its directory, in the recording: "inspect/2026-11-22 ..." */
	const char *program;
	int32_t pid;
	const char *heap;	/* "", "sampled", "exact" */
	int64_t n_snapshots;	/* -1: not known, because the inspection did not end in order */
	int64_t start_us;	/* of the inspection, since the start of the recording */
	uint32_t task;		/* that it was a process of, NO_INDEX: not known */
};

struct inspected {
	size_t n;
	struct inspected_process *process;	/* by start */
};

/* What an archive says of its process. */
struct inspected_origin {
	const char *task;	/* the id of its task, INSTANCE.NUMBER, or "" */
	const char *ancestors;	/* "PID,PID,...": itself, its parent ...; or "" */
	int32_t pid;
	int64_t start_us;	/* of the process, since the start of the recording */
	int64_t inspected_us;	/* the start of the inspection */
};

/* The task that the process was one of, NO_INDEX if it is not known: that with the id, otherwise the
 * one of its nearest ancestor that is a task's own process. */
uint32_t inspected_task(const struct recording *rec, const struct inspected_origin *origin);

#endif
