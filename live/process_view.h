/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LIVE_PROCESS_VIEW_H
#define BUILDBEAT_LIVE_PROCESS_VIEW_H

#include "base/buf.h"
#include "base/error.h"
#include "inspect/process_table.h"
#include "inspect/recent.h"
#include "live/source.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * The processes of a build that runs, for the pages of any number of readers: /proc is read at most
 * twice a second, and what was read is returned until then.
 */
#define PROCESS_VIEW_FRESH_US 500000
#define PROCESS_VIEW_SAMPLE_US 900000	/* between samples of one process: 120 are two minutes */

struct process_view {
	char path[PATH_MAX];		/* of the recording, "": none */
	struct live_build *build;	/* NULL: no build runs */
	int64_t tried_us;		/* when the build was opened last */
	struct process_table table[2];	/* of the build, of the machine */
	int64_t wall_ns[2];		/* when it was read */
};

/* The view of this reader process on the recording of a request, which belongs to the view's file.
 * 0 or a negative errno with err. */
int process_view_open(struct process_view **v, const struct source *s, struct error *err);

/* Bring a table up to date; all: that of the machine. 0 or a negative errno with err. */
int process_view_read(struct process_view *v, bool all, struct error *err);

/*
 * The row of a process, valid until the next reading; start_ticks 0: whatever its start. -ESTALE if
 * it has ended, -EPERM if it is not of the build and foreign is false; with err.
 */
int process_view_find(struct process_view *v, int32_t pid, uint64_t start_ticks, bool foreign,
		      const struct process_row **row, const struct process_table **table,
		      struct error *err);

/* The newest samples of a process, with one of now if the last one is older than
 * PROCESS_VIEW_SAMPLE_US, of the 32 processes that were asked for last. 0 or a negative errno with err. */
int process_view_sample(struct process_view *v, const struct listed *p, const struct recent **recent,
			struct error *err);

#endif
