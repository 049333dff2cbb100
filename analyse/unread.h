/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_UNREAD_H
#define BUILDBEAT_ANALYSE_UNREAD_H

#include "analyse/graph.h"

/*
 * Targets that no other recorded task waited for: the goals of a build, and work that nobody needed.
 * It is not recorded who reads a file without waiting for it, nor what a target of make without a
 * recipe, such as a phony one, waits for.
 */
struct unread_item {
	uint32_t target;	/* of the summary */
	int64_t wall_us;	/* of its tasks */
	bool goal;		/* the command line of its build tool names it */
};

struct unread {
	bool known;		/* false: no dependencies were recorded */
	size_t n;
	struct unread_item *item;	/* the longest first, goals last */
	int64_t wall_us;	/* of those that are not goals */
};

/* 0 or -ENOMEM. Always release. */
int unread_find(struct unread *u, const struct graph *g);
void unread_release(struct unread *u);

#endif
