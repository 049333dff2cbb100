/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ARCHIVE_BUILD_TASKS_H
#define BUILDBEAT_ARCHIVE_BUILD_TASKS_H

#include "analyse/values.h"
#include "base/buf.h"

#include <stdbool.h>

/*
 * The tasks of the build that is to be written, in the order its columns are in: that of
 * the build before, new ones at the end; or anew, where more than half of the lines would
 * be of tasks that are gone.
 */
struct build_tasks {
	struct buf text;	/* the blob */
	bool same;		/* as it was before */
	size_t n;		/* lines */
	uint32_t *line;		/* of each of the figures' tasks */
};

#define BUILD_TASKS_INIT { 0 }

/* before: the blob of the build before, NULL if there is none; one that is damaged is as
 * good as none. 0 or -ENOMEM. Always release. */
int build_tasks_make(struct build_tasks *d, const struct values *f, const void *before,
		    size_t len);
void build_tasks_release(struct build_tasks *d);

#endif
