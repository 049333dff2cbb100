/* SPDX-License-Identifier: MIT */
#include "convert/ninja/waits.h"

#include "base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NOT_LOOKED (UINT32_MAX - 1)

/* Where one is in a phony edge. */
struct ninja_waits_place {
	uint32_t edge, input;
};

int ninja_waits_init(struct ninja_waits *w, const struct ninja_build *n)
{
	*w = (struct ninja_waits){ .n = n,
		.end_us = malloc((n->n_edges + 1) * sizeof *w->end_us),
		.last = malloc((n->n_edges + 1) * sizeof *w->last) };
	if (!w->end_us || !w->last) {
		ninja_waits_release(w);
		return -ENOMEM;
	}
	memset(w->end_us, 0xff, n->n_edges * sizeof *w->end_us);
	for (size_t i = 0; i < n->n_edges; i++)
		w->last[i] = NOT_LOOKED;
	return 0;
}

void ninja_waits_release(struct ninja_waits *w)
{
	free(w->end_us);
	free(w->last);
	free(w->stack);
	*w = (struct ninja_waits){ .n = NULL };
}

static void later(const struct ninja_waits *w, uint32_t *last, uint32_t edge)
{
	if (edge == NO_EDGE || w->end_us[edge] < 0)
		return;
	if (*last == NO_EDGE || w->end_us[edge] > w->end_us[*last])
		*last = edge;
}

static int push(struct ninja_waits *w, uint32_t edge)
{
	struct ninja_waits_place *grown = array_grow(w->stack, w->n_stack, sizeof *grown);

	if (!grown)
		return -ENOMEM;
	w->stack = grown;
	grown[w->n_stack++] = (struct ninja_waits_place){ edge, 0 };
	w->last[edge] = NO_EDGE;
	return 0;
}

/* The next input of a phony edge that is one itself and not looked at. */
static uint32_t next_phony(struct ninja_waits *w, struct ninja_waits_place *at)
{
	const struct ninja_edge *e = &w->n->edge[at->edge];

	while (at->input < e->n_in + e->n_implicit_in + e->n_order_only) {
		uint32_t maker = ninja_edge_maker(w->n, e, at->input);

		if (maker == NO_EDGE || !ninja_edge_is_phony(&w->n->edge[maker]))
			later(w, &w->last[at->edge], maker);
		else if (w->last[maker] == NOT_LOOKED)
			return maker;
		else
			later(w, &w->last[at->edge], w->last[maker]);
		at->input++;
	}
	return NO_EDGE;
}

/* They may be as deep in one another as there are edges, and in circles. */
static int look(struct ninja_waits *w, uint32_t edge)
{
	int r = w->last[edge] == NOT_LOOKED ? push(w, edge) : 0;

	while (!r && w->n_stack) {
		uint32_t inner = next_phony(w, &w->stack[w->n_stack - 1]);

		if (inner != NO_EDGE)
			r = push(w, inner);
		else
			w->n_stack--;
	}
	return r;
}

static int input_made(struct ninja_waits *w, const struct ninja_edge *e, size_t i,
		      uint32_t *edge)
{
	uint32_t maker = ninja_edge_maker(w->n, e, i);
	int r = 0;

	if (maker != NO_EDGE && ninja_edge_is_phony(&w->n->edge[maker])) {
		r = look(w, maker);
		maker = r ? NO_EDGE : w->last[maker];
	}
	later(w, edge, maker);
	return r;
}

int ninja_waits_for(struct ninja_waits *w, const struct ninja_edge *e, size_t i,
		    uint32_t *edge)
{
	size_t used = (size_t)e->n_in + e->n_implicit_in;
	int r = 0;

	*edge = NO_EDGE;
	if (i < used)
		return input_made(w, e, i, edge);
	for (i = used; !r && i < used + e->n_order_only; i++)
		r = input_made(w, e, i, edge);
	return r;
}
