/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_COMPARE_RENAMES_H
#define BUILDBEAT_COMPARE_RENAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Tasks that are gone, and new ones that may be the same under another name. A pair needs a reason
 * and must be the only one with it on both sides:
 *	moved	the same kind and the same last parts ("lib/a.o", "src/lib/a.o"), as many as
 *		are needed to make the pair unique
 *	similar	the same kind, directory and suffix, and of the rest three quarters are equal
 *		at beginning and end. For bitbake: the same task of a recipe with such a
 *		name, if the whole recipe is gone or new
 */
enum rename_reason {
	RENAME_NONE,
	RENAME_MOVED,
	RENAME_SIMILAR,
};

struct rename_task {
	const char *name, *kind;
	bool recipe;		/* "recipe: task" */
	bool whole;		/* no task of that recipe is on the other side */
	enum rename_reason reason;	/* output, like other */
	uint32_t other;		/* index in the other list */
};

/* Sets reason and other in both lists. The result depends only on the names. Returns 0 or
 * -ENOMEM. */
int renames_find(struct rename_task *gone, size_t n_gone, struct rename_task *now, size_t n_now);

#endif
