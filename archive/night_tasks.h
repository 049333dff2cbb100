/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ARCHIVE_NIGHT_TASKS_H
#define BUILDBEAT_ARCHIVE_NIGHT_TASKS_H

#include "analyse/values.h"
#include "base/buf.h"

#include <stdbool.h>

/*
 * The tasks of the night that is to be written, in the order its columns are in: that of
 * the night before, new ones at the end; or anew, where more than half of the lines would
 * be of tasks that are gone.
 */
struct night_tasks {
	struct buf text;	/* the blob */
	bool same;		/* as it was before */
	size_t n;		/* lines */
	uint32_t *line;		/* of each of the figures' tasks */
};

#define NIGHT_TASKS_INIT { 0 }

/* before: the blob of the night before, NULL if there is none; one that is damaged is as
 * good as none. 0 or -ENOMEM. Always release. */
int night_tasks_make(struct night_tasks *d, const struct values *f, const void *before,
		    size_t len);
void night_tasks_release(struct night_tasks *d);

#endif
