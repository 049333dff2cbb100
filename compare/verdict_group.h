/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_COMPARE_VERDICT_GROUP_H
#define BUILDBEAT_COMPARE_VERDICT_GROUP_H

#include "base/buf.h"
#include "base/cursor.h"
#include "compare/verdict.h"

/*
 * The findings of a verdict in groups, so that a cause that many tasks share is one line of an
 * output. Confirmed findings belong to one event if history would group them so. Of an event,
 * the findings of one metric and state are a group if they are of the same recipe,
 * directory or kind and their effects are alike. Each finding is in exactly one group; most
 * groups have one finding.
 */
enum verdict_group_of {
	GROUP_ONE,		/* a single finding */
	GROUP_RECIPE,		/* "NAME: do_..." */
	GROUP_DIRECTORY,	/* "NAME: ..." or "NAME/..."; "." is the top directory */
	GROUP_KIND,		/* at least half of the tasks of this kind */
};

#define GROUP_LEAST 3		/* findings of a group that has a name */

struct verdict_group {
	enum verdict_group_of of;
	struct slice name;	/* of the recipe, directory or kind; GROUP_ONE: none */
	size_t first, n;	/* in groups.member, by the size of their changes */
	struct verdict_finding whole;	/* before, now and newest are sums, low and high the smallest
					   and largest effects; since, first and last are
					   those of the event. Of one finding: its values */
	double largest;		/* now - before of the first member */
};

struct verdict_groups {
	size_t n;
	struct verdict_group *group;	/* in the order of findings, by the sums */
	uint32_t *member;	/* findings, group by group */
	uint32_t *of;		/* the group of each finding */
	uint32_t *cause;	/* the first group of the same cause (verdict_cause.h), of each group */
	size_t n_causes;	/* that fail */
	uint32_t *like;		/* of each group: one of TASK_SHARED that shows the same, or itself */
};

/* The names point into builds. Returns 0 or -ENOMEM. Always release. */
int verdict_groups_make(struct verdict_groups *g, const struct verdict *v,
			const struct builds *builds);
void verdict_groups_release(struct verdict_groups *g);

/* Adds the tasks that changed together, and those that show the same alone, as a list of patterns
 * (rules.h). `added` says of each task whether the list has it already. */
void verdict_add_changed(struct buf *list, bool *added, const struct verdict *v,
			 const struct builds *builds, const struct verdict_finding *f);

/* Adds a pattern, as in rules.h, that fits the tasks of all members; "*" for all tasks, "" for
 * the build. */
void verdict_group_add_pattern(struct buf *pattern, const struct verdict_groups *g,
			       const struct verdict *v, const struct builds *builds,
			       const struct verdict_group *group);

#endif
