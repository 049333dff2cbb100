/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_VIEW_H
#define BUILDBEAT_ANALYSE_VIEW_H

#include "analyse/groups.h"
#include "analyse/summary.h"

/* A selection of tasks of a summary: all conditions must hold. */
struct selection {
	/* Part of the name, key or command, or the kind; with * ? or [ a shell pattern
	 * for the whole of one of them. NULL: any */
	const char *filter;
	const char *kind;	/* NULL: any */
	const char *task;	/* the tasks with this name (names.h), or the one with this id; NULL: any */
	bool unsuccessful;	/* failed, killed and unfinished ones only */
};

/* The selected tasks, targets and kinds. */
struct view {
	const struct summary *sum;
	struct selection selection;
	bool all;		/* no condition was given */
	size_t n_tasks;
	uint32_t *task;		/* those that ran by start, then those that did not */
	size_t n_unsuccessful;
	uint32_t *unsuccessful;	/* failed and killed, then unfinished, each by start */
	size_t n_targets;
	uint32_t *target;	/* with a selected task; in any order */
	struct groups kinds;
	struct cost cost;	/* of the selected tasks */
};

/* 0 or -ENOMEM. Always release. */
int view_make(struct view *v, const struct summary *s, const struct selection *sel);
void view_release(struct view *v);

/* Was the task selected? Without a condition NO_INDEX was, too. */
bool view_has_task(const struct view *v, uint32_t task);

/*
 * The first `top` targets (or tasks) by a value or VALUE_NAME (value_order()), brought to the front of v->target
 * (or v->task). Their number.
 */
size_t view_top_targets(struct view *v, enum value key, size_t top);
size_t view_top_tasks(struct view *v, enum value key, size_t top);

#endif
