/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_INSPECT_CALL_SITES_H
#define BUILDBEAT_INSPECT_CALL_SITES_H

#include "base/index.h"
#include "inspect/heap_tree.h"

/*
 * The places in the program that allocate: for each stack the innermost call of a function that
 * the rules do not call an allocator. Values of several snapshots stand side by side.
 */
#define CALL_SITES_SNAPSHOTS 3

struct call_site {
	struct call call;	/* function: calls_function(), or CLASSES_NONE: no stack is known */
	bool mapped;		/* by mmap(), not by malloc() */
	int64_t value[CALL_SITES_SNAPSHOTS][HEAP_VALUES];
	double variance[CALL_SITES_SNAPSHOTS];	/* of the live bytes */
};

/* Begins as all zero. */
struct call_sites {
	size_t n;
	struct call_site *site;
	struct index index;	/* private */
};

/* Add a snapshot to the column, which is less than CALL_SITES_SNAPSHOTS. Only stacks with a
 * function that fits filter (NULL: all) count. 0 or -ENOMEM. */
int call_sites_add(struct call_sites *t, unsigned column, struct class_nodes *nodes,
		   struct calls *calls, const struct snapshot *s, const struct pattern *filter);
void call_sites_release(struct call_sites *t);

#endif
