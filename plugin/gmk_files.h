/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_PLUGIN_GMK_FILES_H
#define BUILDBEAT_PLUGIN_GMK_FILES_H

#include "base/buf.h"
#include "recording/store.h"

/*
 * GNU make's database of targets. Its structs are the same from 4.0 to 4.4, except the order of two
 * members of a prerequisite. Nothing is read from other versions.
 *
 * A target for which make starts no process is no task: it has no recipe, an empty one, or it is up
 * to date. What waits for it waits for the tasks behind it. So when a task starts, the targets of
 * this sort among its prerequisites, and among theirs, are written as a "group", each once. A
 * group has those of its prerequisites that ran or lead to others that ran. make has finished
 * with all of them by then.
 */

/* The beginning of make's struct commands. */
struct gmk_commands {
	const char *file;	/* NULL: a built-in rule */
	unsigned long line;
};

/* Before the others, which do nothing in a make of another version. */
void gmk_files_begin(void);

/* Of make; NULL: it is not known, and then nothing below is. */
const char *gmk_files_version(void);

/* The value of a variable, as make would expand $(value NAME) now; NULL: it is undefined, or this
 * is not known. Costs a fifth of an expansion. */
const char *gmk_files_variable(const char *name);

/* The recipe of the target that make is about to run; NULL: unknown. */
const struct gmk_commands *gmk_files_recipe(const char *target);

/* Add the names of the prerequisites of that target, with blanks between them. */
void gmk_files_add_prerequisites(struct buf *b);

/* A process of this target is about to start: write the targets without a task on the way to it. */
void gmk_files_run(struct store *s);

/* The groups of targets, each after a blank, that make made before it looked at this one, because of
 * .WAIT or of a .NOTPARALLEL with targets (since 4.4). After gmk_files_run(). */
const char *gmk_files_waits(void);

#endif
