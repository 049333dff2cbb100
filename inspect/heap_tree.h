/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_INSPECT_HEAP_TREE_H
#define BUILDBEAT_INSPECT_HEAP_TREE_H

#include "inspect/class_nodes.h"
#include "inspect/classify.h"

/*
 * The allocations of one snapshot as a tree of functions: top-down from main() to what allocates,
 * or bottom-up from what allocates to its callers. Both begin with the same root. Functions that
 * the rules call allocators are left out of the bottom-up tree, unless the whole stack is of them.
 */
enum heap_tree_direction { HEAP_TOP_DOWN, HEAP_BOTTOM_UP };

struct heap_node {
	uint32_t parent;	/* CLASSES_NONE: the root, which is the first one */
	uint32_t function;	/* calls_function() */
	int64_t value[HEAP_VALUES];	/* with those of all nodes below */
	double variance;	/* of the live bytes */
};

struct heap_tree {
	size_t n;
	struct heap_node *node;	/* parents before their children */
};

/* Only stacks with a function that fits filter (NULL: all) count. 0 or -ENOMEM. */
int heap_tree_make(struct heap_tree *t, struct class_nodes *nodes, struct calls *calls,
		   const struct snapshot *s, enum heap_tree_direction direction,
		   const struct pattern *filter);
void heap_tree_release(struct heap_tree *t);

/* Add the values of a site to value[HEAP_VALUES], and the square of its error to variance (may be
 * NULL). */
void heap_add_site(int64_t *value, double *variance, const struct site *site);

#endif
