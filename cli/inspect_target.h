/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CLI_INSPECT_TARGET_H
#define BUILDBEAT_CLI_INSPECT_TARGET_H

#include "base/error.h"
#include "cli/inspect.h"

#include <limits.h>
#include <stdint.h>

/* The process that the options of inspect name. */
struct inspect_target {
	int32_t pid;
	uint64_t start_ticks;
	char name[16];
	char task[40];		/* the id of its task, "" */
	char why[300];		/* what chose it */
	char recording[PATH_MAX];	/* the directory of its build's recording, "": none */
	char heap_dir[PATH_MAX];	/* where the image of its heap is, "": there is none */
};

/* 0, or a negative errno with err if there is no such process. */
int inspect_find_target(struct inspect_target *t, const struct inspect_arguments *o,
			struct error *err);

#endif
