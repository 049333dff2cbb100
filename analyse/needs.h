/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_NEEDS_H
#define BUILDBEAT_ANALYSE_NEEDS_H

#include "analyse/summary.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * What the tasks of a build waited for: the tasks that made their targets, and groups. A group stands
 * for a target that is no task, such as one without a recipe or a phony edge. Its members are the
 * tasks and groups that it waits for. So a group of 1,000 targets that 1,000 tasks wait for has 2,000 edges.
 *
 * A host waits only for tasks of its own instance. A target that another instance made counts as the
 * task of this instance in which it was made: needs_within().
 */
struct needs_group {
	const char *name;
	uint32_t instance;
	uint32_t first, n;	/* in needs.member */
	uint32_t last;		/* of all tasks behind it, the one that ended last, or NO_INDEX */
};

struct needs {
	/* Of each recording.after, when the waiting task began: */
	uint32_t *maker;	/* the task that made it last before, of any instance; of a group
				   its `last`; or NO_INDEX */
	bool *other_file;	/* that is not the target of its maker */
	uint32_t *group;	/* a group that it names, or NO_INDEX */
	size_t n_groups;
	struct needs_group *node;	/* the groups behind a group come before it */
	uint32_t *member;	/* a task, or needs_node() of a group */
	size_t n_tasks;
};

static inline uint32_t needs_node(const struct needs *n, uint32_t group)
{
	return (uint32_t)n->n_tasks + group;
}

/* The task of an instance in which a task ran: itself, or one that hosts it. NO_INDEX: none. */
static inline uint32_t needs_within(const struct summary *s, uint32_t task, uint32_t instance)
{
	while (task != NO_INDEX && s->rec->task[task].instance != instance)
		task = s->nest[task].parent;
	return task;
}

/*
 * Filled in the order of time: needs_ended() when others may have waited for a task, needs_start()
 * when one starts. 0 or -ENOMEM.
 */
struct needs_sweep;
int needs_begin(struct needs_sweep **sweep, struct needs *n, const struct summary *s);
void needs_ended(struct needs_sweep *w, uint32_t task);
void needs_start(struct needs_sweep *w, uint32_t task);
void needs_end(struct needs_sweep *w);

/* make considers what a rule with double colons needs only when the rules of the same target before it
 * are done. The target for which a task waits so, NO_INDEX: none. Known before the sweep. */
uint32_t needs_order(const struct needs_sweep *w, uint32_t task);

/* Do two tasks of one target begin different rules with double colons? Each has a place of its own. */
static inline bool needs_other_rule(const struct task *a, const struct task *b)
{
	return *a->file && *b->file && (a->line != b->line || strcmp(a->file, b->file));
}

void needs_release(struct needs *n);

#endif
