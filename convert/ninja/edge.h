/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CONVERT_NINJA_EDGE_H
#define BUILDBEAT_CONVERT_NINJA_EDGE_H

#include "convert/ninja/graph.h"

/* The kind (kind.h) of a rule's tasks, by the names that CMake, Meson and gn give their rules; NULL
 * for other names. */
const char *ninja_rule_kind(struct slice rule);

/*
 * The edges that an edge waited for. Of the edges behind a phony edge only the one that ended last
 * counts, because nobody waited for the others, and there may be as many of them as edges. For the
 * same reason only one edge counts of all order-only inputs together.
 */
struct ninja_waits {
	const struct ninja_graph *graph;
	int64_t *end_us;	/* of each edge that ran, -1 for the others */
	struct ninja_behind *behind;	/* private */
};

/* Sets all end_us to -1: the caller fills them. 0 or -ENOMEM. */
int ninja_waits_init(struct ninja_waits *w, const struct ninja_graph *g);
void ninja_waits_release(struct ninja_waits *w);

/* The edge that the edge waited for because of its input i of used_in, or of all order-only
 * inputs if i is used_in. NINJA_NO_EDGE: none. */
uint32_t ninja_waits_for(struct ninja_waits *w, const struct ninja_edge *e, size_t i);

#endif
