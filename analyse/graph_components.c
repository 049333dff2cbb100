/* SPDX-License-Identifier: MIT */
#include "analyse/graph.h"

#include "base/array.h"
#include "base/minmax.h"

#include <errno.h>
#include <stdlib.h>

/* Tarjan's algorithm, without recursion: a graph may be one long chain. */
struct walk {
	uint32_t *first, *next;	/* the edges of each node */
	uint32_t *number, *low;	/* 0: not visited */
	uint32_t *stack, *path, *at;	/* nodes without a component; on the way; their next edge */
	bool *waits;		/* on the stack */
	size_t n_stack, n_path;
	uint32_t n_visited, n_components;
};

static int allocate(struct walk *w, size_t n, size_t n_edges)
{
	w->first = calloc(n + 2, sizeof *w->first);
	w->next = array_new(n_edges, sizeof *w->next);
	w->number = array_new_zero(n + 1, sizeof *w->number);
	w->low = array_new_zero(n + 1, sizeof *w->low);
	w->stack = array_new(n + 1, sizeof *w->stack);
	w->path = array_new(n + 1, sizeof *w->path);
	w->at = array_new(n + 1, sizeof *w->at);
	w->waits = array_new_zero(n + 1, sizeof *w->waits);
	return w->first && w->next && w->number && w->low && w->stack && w->path && w->at &&
	       w->waits ? 0 : -ENOMEM;
}

static void fill_edges(struct walk *w, size_t n, const uint32_t *from, const uint32_t *to,
		       size_t n_edges)
{
	for (size_t i = 0; i < n_edges; i++)
		w->first[from[i] + 1]++;
	for (size_t i = 1; i <= n; i++)
		w->first[i] += w->first[i - 1];
	for (size_t i = n_edges; i-- > 0;)
		w->next[--w->first[from[i] + 1]] = to[i];
	/* first[i + 1] is the begin of node i now */
	for (size_t i = 0; i < n; i++)
		w->first[i] = w->first[i + 1];
	w->first[n] = (uint32_t)n_edges;
}

static void enter(struct walk *w, uint32_t node)
{
	w->number[node] = w->low[node] = ++w->n_visited;
	w->at[node] = w->first[node];
	w->stack[w->n_stack++] = node;
	w->waits[node] = true;
	w->path[w->n_path++] = node;
}

static void leave(struct walk *w, uint32_t *component)
{
	uint32_t node = w->path[--w->n_path], other;

	if (w->n_path) {
		uint32_t *low = &w->low[w->path[w->n_path - 1]];

		*low = MIN(w->low[node], *low);
	}
	if (w->low[node] != w->number[node])
		return;
	do {
		other = w->stack[--w->n_stack];
		w->waits[other] = false;
		component[other] = w->n_components;
	} while (other != node);
	w->n_components++;
}

int graph_components(uint32_t *component, size_t n, const uint32_t *from, const uint32_t *to,
		     size_t n_edges)
{
	struct walk w = { 0 };
	int r = allocate(&w, n, n_edges);

	if (!r)
		fill_edges(&w, n, from, to, n_edges);
	for (uint32_t root = 0; !r && root < n; root++) {
		if (!w.number[root])
			enter(&w, root);
		while (w.n_path) {
			uint32_t node = w.path[w.n_path - 1], other;

			if (w.at[node] == w.first[node + 1]) {
				leave(&w, component);
				continue;
			}
			other = w.next[w.at[node]++];
			if (!w.number[other])
				enter(&w, other);
			else if (w.waits[other] && w.number[other] < w.low[node])
				w.low[node] = w.number[other];
		}
	}
	free_all(w.first, w.next, w.number, w.low, w.stack, w.path, w.at, w.waits);
	return r;
}
