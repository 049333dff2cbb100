/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ARCHIVE_BUILD_TASKS_H
#define BUILDBEAT_ARCHIVE_BUILD_TASKS_H

#include "analyse/values.h"
#include "base/buf.h"

#include <stdbool.h>

/*
 * The dictionary of a build to be written: that of the build before, with new tasks at the end. It
 * is made anew if more than half of its lines are of tasks that are gone.
 */
struct build_tasks {
	struct buf text;	/* the blob */
	bool same;		/* as in the build before */
	size_t n;		/* number of lines */
	uint32_t *line;		/* the line of each task of the values */
};

#define BUILD_TASKS_INIT { 0 }

/* before: the dictionary of the build before, or NULL; a damaged one is ignored. Returns 0 or
 * -ENOMEM. Always release. */
int build_tasks_make(struct build_tasks *d, const struct values *f, const void *before,
		    size_t len);
void build_tasks_release(struct build_tasks *d);

#endif
