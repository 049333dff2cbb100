/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_INSPECT_CLASS_NODES_H
#define BUILDBEAT_INSPECT_CLASS_NODES_H

#include "base/pattern.h"
#include "inspect/calls.h"
#include "inspect/classify.h"

/*
 * Private to inspect/: the rules as one array, with compiled expressions. What an expression
 * says about a text is kept, because the same few thousand texts come again in all stacks.
 */
struct class_condition {
	struct pattern pattern;
	bool wanted;		/* the rule has this condition */
	size_t n_known;
	char *known;		/* by number in names: 0 not asked yet, 1 no, 2 yes */
};

struct class_node {
	const char *name;
	const struct class_rule *rule;	/* NULL: root, or other */
	uint32_t parent;
	uint32_t first, n_children;	/* they follow each other; the last one is other */
	int split;
	struct class_condition file, permissions, source;
	struct class_condition *stack;	/* of rule->stack */
};

struct class_nodes {
	size_t n;
	struct class_node *node;	/* the root first, parents before children */
	struct class_condition allocators;
	const struct inspection *in;
};

/* 0, -ENOMEM, or -EINVAL with err. Always release. */
int class_nodes_init(struct class_nodes *t, const struct class_rule_file *file,
		     const struct inspection *in, struct error *err);
void class_nodes_release(struct class_nodes *t);

/* What is classified. */
struct class_item {
	uint32_t file;			/* number in names, or as in memory_parts.h */
	const char *permissions;
	const struct calls *calls;	/* NULL: not known */
};

/* The class of an item: a node without children. *after: number of calls up to the last one that
 * its stack named. -ENOMEM is never lost: it is returned. */
int class_nodes_find(struct class_nodes *t, const struct class_item *item, uint32_t *node,
		     size_t *after);

/* The first call from `from` on that is no allocator; calls->n if there is none. 0 or -ENOMEM. */
int class_nodes_blame(struct class_nodes *t, const struct calls *calls, size_t from, size_t *call);

#endif
