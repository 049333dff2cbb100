/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_INSPECT_LIVE_BUILD_H
#define BUILDBEAT_INSPECT_LIVE_BUILD_H

#include "base/error.h"
#include "inspect/process_list.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The tasks of a build that run now, and which processes are theirs: from its recording, read
 * while it grows. Several programs can do that at the same time; the build does not notice them.
 */
struct build_task {
	char id[40];		/* INSTANCE.NUMBER, as in tasks.log */
	const char *name;	/* never empty; secrets are replaced */
};

struct live_build;

/* path: the directory of the recording. 0, or a negative errno with err: -EINVAL if it is no
 * recording of ours. */
int live_build_open(struct live_build **b, const char *path, struct error *err);
void live_build_close(struct live_build *b);	/* b may be NULL */

/* Read what was appended since. 1, or 0 if the build has ended, or a negative errno with err. */
int live_build_read(struct live_build *b, struct error *err);

/* The outermost build tool that runs, "make"; "" before one is known. */
const char *live_build_tool(const struct live_build *b);

/* The process that writes samples: the launcher, if there is one. 0: none is known. */
int32_t live_build_launcher(const struct live_build *b);

/*
 * Select the processes of the list that belong to the build: build tools, tasks and all their
 * descendants, not the launcher itself. Those that were selected remain so.
 */
void live_build_select(const struct live_build *b, struct process_list *l);

/* The task of a process, which it or an ancestor runs; NULL: none is known. Valid until the next
 * reading. */
const struct build_task *live_build_task(const struct live_build *b, const struct process_list *l,
					const struct listed *p);

#endif
