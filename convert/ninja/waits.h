/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CONVERT_NINJA_WAITS_H
#define BUILDBEAT_CONVERT_NINJA_WAITS_H

#include "convert/ninja/build.h"

/*
 * Which of the edges that ran another edge had to wait for. Behind a phony edge, and of
 * what an edge waits for without using it, one counts: that which ended last, for
 * the others made nobody wait, and there may be as many of them as edges.
 */
struct ninja_waits {
	const struct ninja_build *n;
	int64_t *end_us;	/* of each edge that ran, -1 for the others */
	/* private */
	uint32_t *last;		/* behind each phony edge */
	size_t n_stack;
	struct ninja_waits_place *stack;
};

/* No edge ran yet: the caller fills in end_us. 0 or -ENOMEM. */
int ninja_waits_init(struct ninja_waits *w, const struct ninja_build *n);
void ninja_waits_release(struct ninja_waits *w);

/* The edge that its i-th input made it wait for, NO_EDGE for none; i beyond n_in +
 * n_implicit_in: all that is order-only. -ENOMEM or 0. */
int ninja_waits_for(struct ninja_waits *w, const struct ninja_edge *e, size_t i,
		    uint32_t *edge);

#endif
