/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_OUTPUT_NEARBY_H
#define BUILDBEAT_ANALYSE_OUTPUT_NEARBY_H

#include "analyse/output.h"

/*
 * What was written while a failed task ran of which no line is known, except its command and
 * announcements, but can exist: the last lines of no known task in the second before its end. They may be of
 * other tasks, so they are never among its own.
 */
#define NEARBY_US 1000000
#define NEARBY_LINES 20
#define NEARBY_TASKS 100	/* of more, only the first ones */
#define NEARBY_TEXT "Written while it ran, perhaps by other tasks:"

struct output_nearby_line {
	uint64_t number;
	struct buf text;	/* at most OUTPUT_PART_MAX of it */
};

struct output_nearby {
	uint32_t task;
	size_t n;		/* lines, the oldest first */
	struct output_nearby_line line[NEARBY_LINES];
};

struct output_nearbies {
	size_t n;		/* tasks without a line of their own */
	struct output_nearby *of;
};

/* Reads all lines if there is such a task; the output is at its beginning afterwards. 0 or a negative
 * errno. Always release. */
int output_nearby_find(struct output_nearbies *all, struct output *o, const struct output_tasks *t,
		       const struct recording *rec);
void output_nearby_release(struct output_nearbies *all);

/* Is the line one of these? */
bool output_nearby_has(const struct output_nearby *of, uint64_t line);

/* That of a task, or NULL: it has lines of its own, all of its lines are known, it did not fail, or runs build
 * tools. */
const struct output_nearby *output_nearby_of(const struct output_nearbies *all, uint32_t task);

#endif
