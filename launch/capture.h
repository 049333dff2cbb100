/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LAUNCH_CAPTURE_H
#define BUILDBEAT_LAUNCH_CAPTURE_H

#include "base/error.h"
#include "launch/launch.h"
#include "recording/store.h"

#include <stdbool.h>

/* `record --processes`: every process of the command, and what is to be said of it. */
struct capture {
	struct store *store;
	struct processes *processes;	/* NULL: none are recorded */
	bool started;
};

/* From here on; `build` tells from where they are known. 0 or a negative errno with err. */
int capture_begin(struct capture *c, struct store *store, struct error *err);

/* The command's process is known when it is launched. */
void capture_prepare(struct capture *c, struct launch *l);

/* After launch_run(). `build` and one line on standard error say what is missing. 0, or a
 * negative errno with err when no more could be written. */
int capture_end(struct capture *c, struct error *err);

/* The same for a recording that is going to be removed: nothing is written or reported. */
void capture_drop(struct capture *c);

#endif
