/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LAUNCH_TASKRUN_H
#define BUILDBEAT_LAUNCH_TASKRUN_H

#include "launch/launch.h"
#include "recording/event.h"
#include "recording/identity.h"
#include "recording/store.h"

/*
 * Run l->argv as a task of the recording, in an instance of our own, with the exact values of its
 * processes. The caller sets name, kind and key of *task; the rest is set here. Returns as
 * launch_run().
 */
int taskrun(struct store *store, const struct event_task *task, struct launch *l);

/*
 * If this build gives tasks their own TRACEPARENT, set that of l to the task or span of our
 * instance. text is its memory.
 */
void taskrun_set_traceparent(struct launch *l, char text[IDENTITY_TRACEPARENT_SIZE],
			     const struct store *store, uint64_t task, uint64_t span);

/* Append the "open" line of an instance of ours, of which one process is one instance. */
void taskrun_add_open(struct buf *b, struct store *store, const char *tool, const char *command);

#endif
