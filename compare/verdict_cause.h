/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_COMPARE_VERDICT_CAUSE_H
#define BUILDBEAT_COMPARE_VERDICT_CAUSE_H

#include "compare/verdict_group.h"

/*
 * Which of the failing groups are of one cause: they began in the same builds, and
 *	have a task in common, such as the wall time and CPU time of a task, or of a recipe
 *	are of all tasks, or one is of the tasks of a group, and the other of one that is in the group
 *	are of the build as a whole, whose times are the sums of what its tasks need: it is a cause of
 *	its own only if nothing else of its kind (time, or the same metric) became worse then
 * Two changes of other tasks in the same builds are two causes.
 */

/* Sets groups->cause and groups->n_causes. Returns 0 or -ENOMEM. */
int verdict_cause_find(struct verdict_groups *groups, const struct verdict *v,
		       const struct builds *builds);

#endif
