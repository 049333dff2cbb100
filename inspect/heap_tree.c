/* SPDX-License-Identifier: MIT */
#include "inspect/heap_tree.h"

#include "base/array.h"
#include "base/index.h"
#include "base/minmax.h"

#include <errno.h>
#include <stdlib.h>

#define VALUE_MAX (UINT64_C(1) << 42)	/* the sum of a million is a number */

static int64_t bounded(uint64_t value)
{
	return (int64_t)MIN(value, VALUE_MAX);
}

void heap_add_site(int64_t *value, double *variance, const struct site *site)
{
	double error = (double)bounded(site->error_bytes);

	value[HEAP_LIVE_BYTES] += bounded(site->live_bytes);
	value[HEAP_LIVE] += bounded(site->live);
	value[HEAP_PEAK_BYTES] += bounded(site->peak_bytes);
	value[HEAP_ALLOCATED_BYTES] += bounded(site->allocated);
	value[HEAP_ALLOCATIONS] += bounded(site->allocations);
	value[HEAP_TEMPORARY] += bounded(site->temporary);
	if (variance)
		*variance += error * error;
}

/* The child of a node that this function is; new ones are added. */
static int find_child(struct heap_tree *t, struct index *index, uint32_t *node, uint32_t function)
{
	uint32_t parent = *node;

	if (index_find(index, parent, function, node))
		return 0;
	*node = (uint32_t)t->n;
	if (!array_add(&t->node, &t->n, sizeof *t->node))
		return -ENOMEM;
	t->node[*node] = (struct heap_node){ .parent = parent, .function = function };
	return index_put(index, parent, function, *node);
}

static int add_site(struct heap_tree *t, struct index *index, const struct calls *calls,
		    size_t first, const struct site *site, enum heap_tree_direction direction)
{
	uint32_t node = 0;
	int r = 0;

	heap_add_site(t->node[0].value, &t->node[0].variance, site);
	for (size_t i = first; i < calls->n && !r; i++) {
		size_t at = direction == HEAP_TOP_DOWN ? calls->n - 1 - i : i;

		r = find_child(t, index, &node, calls->call[at].function);
		if (!r)
			heap_add_site(t->node[node].value, &t->node[node].variance, site);
	}
	return r;
}

int heap_tree_make(struct heap_tree *t, struct class_nodes *nodes, struct calls *calls,
		   const struct snapshot *s, enum heap_tree_direction direction,
		   const struct pattern *filter)
{
	struct index index = INDEX_INIT;
	int r = -ENOMEM;

	*t = (struct heap_tree){ 0 };
	if (array_add(&t->node, &t->n, sizeof *t->node)) {
		t->node[0] = (struct heap_node){ .parent = CLASSES_NONE, .function = CLASSES_NONE };
		r = 0;
	}
	for (size_t i = 0; i < s->n_sites && !r; i++) {
		size_t first = 0;

		r = calls_read(calls, s->site[i].stack);
		if (r || !calls_fit(calls, filter))
			continue;
		if (direction == HEAP_BOTTOM_UP)
			r = class_nodes_blame(nodes, calls, 0, &first);
		r = r ? r : add_site(t, &index, calls, first < calls->n ? first : 0, &s->site[i],
				     direction);
	}
	index_release(&index);
	return r;
}

void heap_tree_release(struct heap_tree *t)
{
	free(t->node);
	*t = (struct heap_tree){ 0 };
}
