/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ARCHIVE_UNION_H
#define BUILDBEAT_ARCHIVE_UNION_H

#include "archive/build.h"
#include "base/name_table.h"

/*
 * All tasks of many builds, those of the oldest first: what each line of each build's
 * dictionary is among them. As dictionaries only ever grow, most builds share one.
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

/* The tasks of the build that follows, into builds->task: a new one at the end. */
int union_add(struct tasks_union *u, struct tasks_of *of, struct builds *builds,
	      struct archive *a, const struct build_place *place, struct error *err);

/* The index of each line's task. */
const uint32_t *union_tasks(const struct tasks_union *u, const struct tasks_of *of);

void union_release(struct tasks_union *u);

#endif
