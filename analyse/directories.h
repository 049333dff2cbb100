/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_DIRECTORIES_H
#define BUILDBEAT_ANALYSE_DIRECTORIES_H

#include "analyse/summary.h"
#include "base/buf.h"
#include "base/name_table.h"

/*
 * The directory of each task, for sums: that of the file it makes, relative to the build's. Without
 * a file it is that of its make, and of a task of bitbake it is the recipe. What a task ran in a
 * build of its own, such as the parts of a link, is in the directory of that task; makes and
 * scripts only pass on.
 */
struct directories {
	const struct summary *s;
	struct name_table names;	/* with its arena */
	/* private */
	uint32_t *of_instance;		/* number of its directory, NO_INDEX: not asked yet */
	struct buf build, path;
	const char *last_name;		/* the next task is often in the same directory */
	size_t last_len;
	uint32_t last_instance, last;
};

/* 0 or -ENOMEM, as the next. Always release. */
int directories_init(struct directories *d, const struct summary *s);
void directories_release(struct directories *d);

/* The number of a task's directory in names. */
int directories_find(struct directories *d, uint32_t task, uint32_t *number);

/* The directory of an instance. */
int directories_of_instance(struct directories *d, uint32_t instance, uint32_t *number);

#endif
