/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_TOOL_COUNT_H
#define BUILDBEAT_ANALYSE_TOOL_COUNT_H

#include "recording/recording.h"

#include <stdint.h>

/*
 * How many of how many tasks have ended, as the build tool counts them. BitBake says it in notes. ninja says
 * it in its status lines, "[120/363]", so its output must be recorded. make does not know how many tasks it
 * will run.
 */
struct tool_count {
	int64_t done, total;	/* -1: not known */
};

/* rec has at least the instances. ended: its tasks that have ended; path: of its directory. A few
 * kilobytes of the output are read. */
void tool_count_find(struct tool_count *p, const struct recording *rec, uint64_t ended, const char *path);

#endif
