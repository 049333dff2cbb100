/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LAUNCH_ARM_H
#define BUILDBEAT_LAUNCH_ARM_H

#include "base/buf.h"
#include "base/error.h"
#include "inspect/rule.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * An armed command: its environment has what heap/heap_env.h describes, so that the programs below
 * it that match a rule count their allocations.
 */
struct arm {
	char preload[PATH_MAX];	/* buildbeat-arm.so */
	char dir[PATH_MAX];	/* where the images will be */
	struct buf rules;	/* the value of BUILDBEAT_HEAP, "": no rule counts the heap */
};

/*
 * Prepare it for those of the rules that count the heap. dir: an absolute path of a private
 * directory that exists. False with err if our objects cannot be used, or a rule or the directory
 * cannot be said in an environment. Release it in any case.
 */
bool arm_init(struct arm *a, const struct inspect_rule *rules, size_t n, const char *dir,
	      struct error *err);
void arm_release(struct arm *a);

/* Set the variables in this process: called in the process that will execute the command, or
 * by launch_run(), see struct launch. Without rules nothing changes. */
void arm_environment(const struct arm *a);

/* Why the heap of a program cannot be counted, from its file: "it is statically linked"; NULL: it
 * can be. For messages. */
const char *arm_obstacle(const char *path);

#endif
