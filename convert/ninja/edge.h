/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CONVERT_NINJA_EDGE_H
#define BUILDBEAT_CONVERT_NINJA_EDGE_H

#include "convert/ninja/graph.h"

/* What sort of work (kind.h) a rule does, by the names that CMake, Meson and gn give their
 * rules; NULL if the name is not one of those. */
const char *ninja_rule_kind(struct slice rule);

/*
 * Which of the edges that ran another edge had to wait for. Of the edges behind a phony edge only
 * the one that ended last counts, and so it is with all order-only inputs together: the others
 * made nobody wait, and there may be as many of them as edges.
 */
struct ninja_waits {
	const struct ninja_graph *graph;
	int64_t *end_us;	/* of each edge that ran, -1 for the others */
	struct ninja_behind *behind;	/* private */
};

/* No edge ran yet: the caller fills in end_us. 0 or -ENOMEM. */
int ninja_waits_init(struct ninja_waits *w, const struct ninja_graph *g);
void ninja_waits_release(struct ninja_waits *w);

/* The edge for which input i of used_in made the edge wait, or NINJA_NO_EDGE. i == used_in means
 * the order-only inputs. */
uint32_t ninja_waits_for(struct ninja_waits *w, const struct ninja_edge *e, size_t i);

#endif
