/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_VALUES_NAME_H
#define BUILDBEAT_ANALYSE_VALUES_NAME_H

#include "base/buf.h"
#include "recording/recording.h"

#include <stdbool.h>

/*
 * What a task is called in every build (values.h): as name_add_task(), but without the
 * version of a recipe, and with "*" for what mktemp, or a process id, made of a name in a
 * directory for temporary files. Tabs and newlines become blanks.
 */
void values_name(struct buf *out, const struct recording *rec, const struct task *t);

/* Is the task's key the name of a recipe with its version (oe.h). */
bool values_is_recipe(const struct recording *rec, const struct task *t);

#endif
