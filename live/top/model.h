/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LIVE_TOP_MODEL_H
#define BUILDBEAT_LIVE_TOP_MODEL_H

#include "base/error.h"
#include "analyse/tool_count.h"
#include "compare/remaining.h"
#include "inspect/live_build.h"
#include "inspect/process_table.h"
#include "inspect/whole_machine.h"
#include "live/now.h"
#include "recording/growing.h"

#include <limits.h>
#include <stdbool.h>

/*
 * What `buildbeat top` shows of one recording. What takes long, the prediction and the output of
 * failed tasks, is made by a child process, the helper, so that keys are never held up.
 */
#define TOP_LOG_LINES 3
#define TOP_LOG_WIDTH 400

/* A message of the helper. */
struct top_help {
	struct remaining_estimate left;
	int64_t elapsed_us;	/* of the build, at the estimate; 0: there is none */
	char failed[40];	/* id of the task with these lines, of its first error; "": none */
	char line[TOP_LOG_LINES][TOP_LOG_WIDTH];
	char idle[TOP_LOG_WIDTH];	/* if nothing happens: for how long, and what it waits for */
};

struct top_model {
	struct mirror *mirror;	/* of a build elsewhere, NULL: it is on this machine */
	const char *trouble;	/* of its server; "" */
	char path[PATH_MAX];	/* of the recording */
	struct growing *growing;
	struct now *now;
	bool ended, deleted;
	struct live_build *build;	/* NULL: it does not run */
	struct process_table processes;
	bool all;		/* every process of the machine */
	struct whole_machine machine;
	int help_fd;		/* -1: no helper */
	int32_t helper;
	struct top_help help;
	struct tool_count progress;
};

/* Open and read it once. helper: start the helper; otherwise the prediction is made here. 0 or a
 * negative errno with err. Always close. */
int top_model_open(struct top_model *m, const char *path, bool helper, struct error *err);
/* Of a build at a server; see mirror.h. */
int top_model_open_url(struct top_model *m, const char *program, const char *ca_file, struct error *err);
void top_model_close(struct top_model *m);

/* Does it change no more? */
bool top_model_is_final(const struct top_model *m);

/* Read what is new; wait: for what a server says next. 0 or a negative errno with err. */
int top_model_read(struct top_model *m, bool wait, struct error *err);

/* As of now. */
struct remaining_estimate top_model_left(const struct top_model *m);

/* Send a signal to the process if it is still the same one and of the build. 0 or a negative
 * errno: -ESRCH, -EPERM. */
int top_model_kill(struct top_model *m, int32_t pid, uint64_t start_ticks, int signal);

#endif
