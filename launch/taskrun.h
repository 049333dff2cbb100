/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LAUNCH_TASKRUN_H
#define BUILDBEAT_LAUNCH_TASKRUN_H

#include "launch/launch.h"
#include "recording/event.h"
#include "recording/store.h"

/*
 * Run l->argv as a task of the recording, by an instance of our own, with the exact
 * figures of its processes. name, kind and key of *task are the caller's, the
 * rest is filled in. As launch_run().
 */
int taskrun(struct store *store, const struct event_task *task, struct launch *l);

#endif
