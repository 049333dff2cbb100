/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_IDLE_LOOK_H
#define BUILDBEAT_REPORT_IDLE_LOOK_H

#include "analyse/idle.h"

/*
 * idle_find(), and what a process of the task waits for, if the build runs on this machine. A process
 * that runs or waits for a disk at this moment makes a build that seems idle by its samples not idle. /proc is
 * read only of a build that seems so. Without permission, or on another machine, the samples decide.
 */
void idle_look(struct idle *i, const struct recording *rec);

#endif
