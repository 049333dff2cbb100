/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_GROUPS_H
#define BUILDBEAT_ANALYSE_GROUPS_H

#include "analyse/summary.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What tasks cost by directory, target, program ... Each task that ran is in one group, with its
 * own cost, so that the groups add up to the total.
 *
 *	DIRECTORY	see directories.h
 *	TARGET		of CMake, if the tasks show it; otherwise the name of the task (names.h)
 *	PROGRAM		of the processes, if they were recorded; otherwise of the command
 *	KIND		compile, link ...
 *	HOST		the build tool that ran the task
 */
enum groups_by { GROUPS_DIRECTORY, GROUPS_TARGET, GROUPS_PROGRAM, GROUPS_KIND, GROUPS_HOST, GROUPINGS };

/* "directory", "target" ...; ends with NULL. */
extern const char *const groups_by_word[GROUPINGS + 1];

struct group {
	const char *name;	/* not yet safe to print; "": not known */
	uint64_t n;		/* tasks, or processes */
	struct cost cost;
};

struct groups {
	enum groups_by by;
	bool of_processes;	/* their storage, and the parts of their CPU time, are not known */
	bool of_recipes;	/* DIRECTORY: each of them is a recipe */
	size_t n;
	struct group *group;
	struct group total;	/* of all groups and the rest */
	/* Of the build and in no group: CPU time and storage that no task used, or CPU time of
	 * processes that were not recorded. 0 for a selection of tasks, and if it is not known. */
	struct cost rest;
	struct arena *texts;
	uint32_t *order;	/* private */
};

/*
 * The groups of the n tasks in task[]; all: these are all tasks of the build, so that there may be a
 * rest. 0 or -ENOMEM. Always release.
 */
int groups_make(struct groups *g, const struct summary *s, const uint32_t *task, size_t n,
		bool all, enum groups_by by);
void groups_release(struct groups *g);

/* The first `top` groups by a value or VALUE_NAME (value_order()), then by their names: their number; *order
 * gets their indices. */
size_t groups_top(struct groups *g, enum value key, size_t top, const uint32_t **order);

/* By what groups are sorted unless somebody asks: by wall time, but processes by CPU time, because
 * their wall time includes waiting for each other. */
enum value groups_usual_key(const struct groups *g);

/* The sum of n groups. */
void groups_add_up(struct group *sum, const struct groups *g, const uint32_t *index, size_t n);

/* Words: "directory", or "recipe", and so on; of a group without a name "(not known)"; of the rest. */
const char *groups_title(const struct groups *g);
const char *groups_name(const struct group *group);
const char *groups_rest_name(const struct groups *g);

/* ", of processes", or why it is of tasks: only where that is a question. */
void groups_add_note(struct buf *b, const struct groups *g);

#endif
