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

/* Whether a change of a task is what tasks of a group show together: the task is in the group, and the metric, the
 * builds and the size of the change are the same. */
bool verdict_cause_shows(const struct verdict_finding *shared, const struct verdict_finding *f,
			 const struct builds *builds);

/* Sets groups->cause, groups->n_causes and groups->like. Returns 0 or -ENOMEM. */
int verdict_cause_find(struct verdict_groups *groups, const struct verdict *v,
		       const struct builds *builds);

#endif
