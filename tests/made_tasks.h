/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_TESTS_MADE_TASKS_H
#define BUILDBEAT_TESTS_MADE_TASKS_H

#include "compare/builds.h"

/*
 * Generated builds of which only the names of the tasks matter. A build is a text: the names, with
 * a blank between them ('~' is a blank in a name); first '!' if it failed. "[a b]" are the packages
 * a and b. Tasks and builds count from 0: the wall time of task t in build b is 1000 * (t + 1) + b,
 * and its CPU time twice that.
 */
void made_tasks(struct builds *builds, const char *const *build, size_t n);

/* The value of a task in a build when it was made, before it was joined. */
float made_tasks_value(size_t task, size_t build);

#endif
