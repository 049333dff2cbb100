/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LAUNCH_SPANRUN_H
#define BUILDBEAT_LAUNCH_SPANRUN_H

#include "launch/launch.h"
#include "recording/store.h"

/*
 * The spans of scripts: each call writes an instance of our own, from whose ancestors a reader
 * finds the task and the spans around it.
 */

/* Run l->argv in a span. Returns as launch_run(). */
int spanrun(struct store *store, const char *name, struct launch *l);

/* Begin a span of the process that started us. Its handle for spanrun_end() is store->inst. */
void spanrun_begin(struct store *store, const char *name);

/* End the span with that handle. Without one, end the newest span with that name ("": any) of the
 * process that started us, or of its ancestors. */
void spanrun_end(struct store *store, const char *handle, const char *name);

#endif
