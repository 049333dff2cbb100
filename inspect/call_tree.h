/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_INSPECT_CALL_TREE_H
#define BUILDBEAT_INSPECT_CALL_TREE_H

#include "inspect/inspection.h"

/*
 * The call stacks of an inspection as a tree of functions: calls from different lines of one
 * function are one node, and a function that was inlined has a node of its own.
 */

/* A function that is in a stack. Without a name it is called "module!0x1234" or "0x1234". */
struct call_function {
	const char *name;
	uint32_t module;		/* INSPECTION_NONE: unknown */
	uint32_t source, line;		/* of the first call seen; INSPECTION_NONE and 0: unknown */
};

struct call_node {
	uint32_t parent;		/* INSPECTION_NONE: outermost */
	uint32_t function;		/* index in function[] */
	bool inlined;			/* into its parent */
};

struct call_tree {
	size_t n;
	struct call_node *node;		/* parents before their children */
	size_t n_functions;
	struct call_function *function;	/* with different names */
	size_t n_stacks;
	uint32_t *of_stack;		/* the node of the innermost call of each stack */
	struct arena *arena;		/* of the names */
	struct name_table names;	/* private */
};

/* 0 or -ENOMEM: then it is empty. */
int call_tree_make(struct call_tree *t, const struct inspection *in);
void call_tree_release(struct call_tree *t);

/* Add to each node the values of those that it called: value[] has tree->n items. */
void call_tree_add_up(const struct call_tree *t, uint64_t *value);

#endif
