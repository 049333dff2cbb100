/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ARCHIVE_UNION_H
#define BUILDBEAT_ARCHIVE_UNION_H

#include "archive/night.h"
#include "base/index.h"

/*
 * All tasks of many nights, those of the oldest first: what each line of each night's
 * dictionary is among them. As dictionaries only ever grow, most nights share one.
 */
struct tasks_of {
	uint32_t family;
	size_t n;		/* lines of the night's dictionary */
};

struct tasks_union {
	struct index by_name;
	size_t n_families;
	struct tasks_family *family;
};

/* The tasks of the night that follows, into nights->task: a new one at the end. */
int union_add(struct tasks_union *u, struct tasks_of *of, struct nights *nights,
	      struct archive *a, const struct night_place *place, struct error *err);

/* The index of each line's task. */
const uint32_t *union_tasks(const struct tasks_union *u, const struct tasks_of *of);

void union_release(struct tasks_union *u);

#endif
