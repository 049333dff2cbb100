/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_COMPARE_RENAMES_H
#define BUILDBEAT_COMPARE_RENAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Tasks that are gone, and new ones that may be the same under another name. A pair needs an
 * explanation and must be the only one with it on both sides, so that nothing is
 * guessed:
 *	moved	the same kind and the same last parts ("lib/a.o", "src/lib/a.o"), as many of
 *		them as it takes to be the only one
 *	similar	the same kind, directory and suffix, and of the rest three quarters are the
 *		same at beginning and end; or of bitbake's the same task of a recipe of such
 *		a name that is gone and new as a whole
 */
enum rename_reason {
	RENAME_NONE,
	RENAME_MOVED,
	RENAME_SIMILAR,
};

struct rename_task {
	const char *name, *kind;
	bool recipe;		/* "recipe: task" */
	bool whole;		/* and of that recipe nothing is on the other side */
	enum rename_reason reason;	/* set here, as the next */
	uint32_t other;		/* index among the others */
};

/* Fills reason and other of both. The same names give the same, whatever their order among
 * equals. 0 or -ENOMEM. */
int renames_find(struct rename_task *gone, size_t n_gone, struct rename_task *now, size_t n_now);

#endif
