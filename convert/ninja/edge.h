/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CONVERT_NINJA_EDGE_H
#define BUILDBEAT_CONVERT_NINJA_EDGE_H

#include "convert/ninja/ninja_graph.h"

/* The kind (kind.h) of a rule's tasks, by the names that CMake, Meson and gn give their rules; NULL
 * for other names. */
const char *ninja_rule_kind(struct slice rule);

/*
 * The edges that an edge waited for: those that ran, and phony edges with such behind them. The edges
 * behind a phony edge are those that it waited for itself, so each is named once for it and not for
 * each edge that waits for it.
 */
struct ninja_waits {
	const struct ninja_graph *graph;
	bool *ran;		/* of each edge */
	struct ninja_behind *behind;	/* private, as the next */
	size_t n_groups;
	uint32_t *group;
};

/* Sets all `ran` to false: the caller fills them. 0 or -ENOMEM. */
int ninja_waits_init(struct ninja_waits *w, const struct ninja_graph *g);
void ninja_waits_release(struct ninja_waits *w);

/* The edge that the edge waited for because of its input i of all_in. NINJA_NO_EDGE: none. */
uint32_t ninja_waits_for(struct ninja_waits *w, const struct ninja_edge *e, size_t i);

/* The next phony edge that the function above returned, each once; NINJA_NO_EDGE: no more. */
uint32_t ninja_waits_group(struct ninja_waits *w);

#endif
