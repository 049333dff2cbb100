/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LAUNCH_CAPTURE_H
#define BUILDBEAT_LAUNCH_CAPTURE_H

#include "base/error.h"
#include "launch/launch.h"
#include "recording/store.h"

#include <stdbool.h>

/* `record --processes`: records every process of the command, and reports what is missing. */
struct capture {
	struct store *store;
	struct processes *processes;	/* NULL: processes are not recorded */
	bool started;
};

/* Begin; `build` says how the processes are found. 0 or a negative errno with err. */
int capture_begin(struct capture *c, struct store *store, struct error *err);

/* Set what launch_run() needs: it reports the command's process. */
void capture_prepare(struct capture *c, struct launch *l);

/* Call it after launch_run(). `build` and one line on standard error say what is missing. 0, or
 * a negative errno with err if a write failed. */
int capture_end(struct capture *c, struct error *err);

/* The same for a recording that will be removed: nothing is written or reported. */
void capture_drop(struct capture *c);

#endif
