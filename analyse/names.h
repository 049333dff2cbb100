/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_NAMES_H
#define BUILDBEAT_ANALYSE_NAMES_H

#include "analyse/summary.h"

/* How people find a task: names as they would say them. */

/* A path below the build's directory relative to it ("." for itself), others as
 * they are. Points into path, or a constant. */
const char *name_relative(const struct recording *rec, const char *path);

/* The place of a task: the directory of its make, for bitbake the recipe; "" if it is the
 * build's directory. */
const char *name_place(const struct recording *rec, const struct task *t);

/*
 * "sub/dir: target" for a task of a make in another directory than the build's,
 * "recipe: task" for one of bitbake's, otherwise "target"; the command if there is no
 * name. Not yet safe to print.
 */
void name_add_task(struct buf *b, const struct recording *rec, const struct task *t);

#endif
