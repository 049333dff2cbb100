/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_NAMES_H
#define BUILDBEAT_ANALYSE_NAMES_H

#include "base/buf.h"
#include "command/build_tool.h"
#include "recording/recording.h"

#include <stdbool.h>
#include <string.h>

/* The names by which people and comparisons find a task. */

/* A path below the build's directory relative to it ("." for itself), others unchanged.
 * Points into path, or a constant. */
const char *name_relative(const struct recording *rec, const char *path);

/* Whether the key of a task is the name of a recipe with its version (recording/recipe.h). */
static inline bool name_is_recipe(const struct recording *rec, const struct task *t)
{
	return *t->key && build_tool_of(rec->instance[t->instance].tool)->recipes;
}

/* The place of a task: the directory of its make, for bitbake the recipe; "" if it is the
 * build's directory. */
const char *name_place(const struct recording *rec, const struct task *t);

/* The name of a task, without its place: from its command if there is none, as in outputs for
 * people. Nothing if there is neither. Not yet safe to print. */
void name_add_bare(struct buf *b, const struct recording *rec, const struct task *t);

/*
 * "sub/dir: target" for a task of a make in another directory than the build's,
 * "recipe: task" for one of bitbake's, otherwise "target"; the command if there is no
 * name. Not yet safe to print.
 */
void name_add_task(struct buf *b, const struct recording *rec, const struct task *t);

/* As short as a sentence wants it: the last part of a target's name, otherwise as name_add_task(). */
void name_add_file(struct buf *b, const struct recording *rec, const struct task *t);

/*
 * The name of a task in every build (values.h): as name_add_task(), but without the version
 * of a recipe, and with "*" for what mktemp, or a process id, made of a name in a directory
 * for temporary files. Control characters become blanks.
 */
void name_add_stable(struct buf *out, const struct recording *rec, const struct task *t);

#endif
