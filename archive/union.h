/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ARCHIVE_UNION_H
#define BUILDBEAT_ARCHIVE_UNION_H

#include "archive/build.h"
#include "base/name_table.h"

/*
 * The tasks of many builds, those of the oldest first, and the task of each line of each build's
 * dictionary. Most builds share a dictionary, because dictionaries only grow.
 */
struct tasks_of {
	uint32_t family;
	size_t n;		/* lines of the build's dictionary */
};

struct tasks_union {
	struct name_table names;	/* of builds->task */
	size_t n_families;
	struct tasks_family *family;
};

/* Adds the tasks of the next build to builds->task. Returns 0 or a negative errno with err. */
int union_add(struct tasks_union *u, struct tasks_of *of, struct builds *builds,
	      struct archive *a, const struct build_place *place, struct error *err);

/* The index of the task of each line. */
const uint32_t *union_tasks(const struct tasks_union *u, const struct tasks_of *of);

/* Changes the index of each task: t becomes to[t]. No build can be added after that. */
void union_join(struct tasks_union *u, const uint32_t *to);

void union_release(struct tasks_union *u);

#endif
