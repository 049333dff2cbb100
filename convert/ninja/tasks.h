/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CONVERT_NINJA_TASKS_H
#define BUILDBEAT_CONVERT_NINJA_TASKS_H

#include "base/cursor.h"
#include "recording/event.h"
#include "recording/recording.h"

#include <stdbool.h>
#include <stdint.h>

/* The runs of ninja in a recording. */

struct ninja_run {
	char inst[INSTANCE_ID_MAX];
	const char *cwd, *command;
	int64_t open_us;
	size_t first_task, n_tasks;
};

/* One command that a ninja ran. */
struct ninja_task {
	uint32_t run;
	uint64_t seq;
	int64_t start_us, end_us;	/* end -1: not seen */
	bool done;			/* with status 0 */
	bool whole;			/* the command is, so that this is its hash: */
	uint64_t command;		/* of the command alone, murmur */
	bool hashed;			/* and these are known, ninja_hash.h: */
	uint64_t murmur, rapid;		/* with what is in its response file */
};

struct ninja_tasks {
	size_t n_runs;
	struct ninja_run *run;
	size_t n;
	struct ninja_task *task;	/* by run, then by start */
	struct arena *arena;		/* private */
};

/* Is this the name of a tool that reads build.ninja: ninja, samu ... */
bool ninja_is_tool(struct slice name);

/* All tasks*.log of the directory. 0 or a negative errno and nothing to release. */
int ninja_tasks_read(struct ninja_tasks *t, int dir_fd);

/* The same for a recording in memory, but only those ninjas whose tasks all lack a name and
 * whose working directory is absolute. 0 or -ENOMEM. */
int ninja_tasks_unnamed(struct ninja_tasks *t, const struct recording *rec);

void ninja_tasks_release(struct ninja_tasks *t);

#endif
