/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_COMPARE_SHARED_H
#define BUILDBEAT_COMPARE_SHARED_H

#include "base/buf.h"
#include "compare/builds.h"

/*
 * Tasks that belong together by their names: all of them; those with an ending in common (".o",
 * ": do_compile"); those of a recipe or directory, with all below it ("src/", "zlib: "). A group
 * depends on the names alone, and no name has more than SHARED_MOST groups.
 */
enum shared_of {
	SHARED_OF_ALL,
	SHARED_OF_ENDING,
	SHARED_OF_PLACE,
};

#define SHARED_MOST 6

struct shared_group {
	enum shared_of of;
	uint32_t example;	/* a task of it: index into builds.task */
	uint32_t len;		/* of the part of its name that all have */
};

/* The groups of a task, each place after the place around it. Returns their number. */
size_t shared_of_task(struct shared_group groups[SHARED_MOST], const struct builds *builds, uint32_t task);

/* The part of the names, for comparison. */
const char *shared_part(const struct builds *builds, const struct shared_group *g);

bool shared_is_same(const struct builds *builds, const struct shared_group *a, const struct shared_group *b);

/* Adds the pattern, as in rules.h. */
void shared_add_pattern(struct buf *b, const struct builds *builds, const struct shared_group *g);

#endif
