/* SPDX-License-Identifier: MIT */
#include "inspect/inspect_view.h"

#include "base/array.h"

#include <errno.h>
#include <stdlib.h>

static int add_line(struct inspect_view *v, const struct snapshot *s)
{
	struct inspect_view_line *line = array_add(&v->line, &v->n, sizeof *line);

	if (!line)
		return -ENOMEM;
	*line = (struct inspect_view_line){
		.time_us = s->time_us, .took_us = s->took_us, .frozen = s->frozen, .ended = s->ended,
		.has_heap = s->has_heap, .process = s->process, .mappings = s->n,
	};
	v->has_heap |= s->has_heap;
	for (int value = 0; value < MAPPING_VALUES; value++)
		line->kb[value] = (int64_t)snapshot_sum_kb(s, (enum mapping_value)value);
	for (size_t i = 0; i < s->n_sites; i++)
		heap_add_site(line->heap, NULL, &s->site[i]);
	return 0;
}

/* All snapshots, one after the other. */
static int read_all(struct inspect_view *v, inspect_view_read *read, void *from, struct error *err)
{
	struct classifier *memory = NULL, *heap = NULL;
	struct snapshot s = { 0 };
	int r = classifier_new(&memory, CLASSIFY_MEMORY, v->wish.rules, v->in, err);

	if (r)
		goto out;
	r = classifier_new(&heap, CLASSIFY_HEAP, v->wish.rules, v->in, err);
	if (r)
		goto out;
	for (size_t i = 0; i < v->in->n_snapshots; i++) {
		r = read(from, i, &s, err);
		if (r)
			goto out;
		r = add_line(v, &s);
		if (r)
			goto out;
		r = classifier_add(memory, &s);
		if (r)
			goto out;
		r = classifier_add(heap, &s);
		if (r)
			goto out;
	}
	r = classifier_done(memory, &v->memory);
	if (r)
		goto out;
	r = classifier_done(heap, &v->heap);
out:
	snapshot_release(&s);
	classifier_free(memory);
	classifier_free(heap);
	return r;
}

/* Of a process that was too short, only the heap is known. */
static bool is_larger(const struct inspect_view_line *a, const struct inspect_view_line *b)
{
	return a->kb[MAPPING_RSS] != b->kb[MAPPING_RSS] ? a->kb[MAPPING_RSS] > b->kb[MAPPING_RSS] :
	       a->heap[HEAP_LIVE_BYTES] > b->heap[HEAP_LIVE_BYTES];
}

static int choose_snapshot(size_t *chosen, const struct inspect_view *v, size_t wanted,
			   size_t otherwise, struct error *err)
{
	*chosen = wanted == INSPECT_VIEW_CHOOSE ? otherwise : wanted;
	if (*chosen < v->n || wanted == INSPECT_VIEW_CHOOSE)
		return 0;
	return error_set(err, -EINVAL, NULL, 0, 0, "there is no snapshot %zu: the inspection has %zu",
			 wanted + 1, v->n);
}

static int choose_snapshots(struct inspect_view *v, struct error *err)
{
	size_t largest = 0;
	int r;

	for (size_t i = 1; i < v->n; i++) {
		if (is_larger(&v->line[i], &v->line[largest]))
			largest = i;
	}
	r = choose_snapshot(&v->shown, v, v->wish.shown, largest, err);
	return r ? r : choose_snapshot(&v->base, v, v->wish.base, 0, err);
}

static int add_sites(struct inspect_view *v, unsigned column, size_t i, inspect_view_read *read,
		     void *from, struct error *err)
{
	struct snapshot s = { 0 };
	int r = read(from, i, &s, err);

	r = r ? r : call_sites_add(&v->sites, column, &v->nodes, &v->calls, &s,
				   v->wish.stack ? &v->stack : NULL);
	snapshot_release(&s);
	return r;
}

static int read_shown(struct inspect_view *v, inspect_view_read *read, void *from,
		      struct error *err)
{
	const struct pattern *filter = v->wish.stack ? &v->stack : NULL;
	int r = add_sites(v, VIEW_BASE, v->base, read, from, err);

	if (r)
		return r;
	r = read(from, v->shown, &v->snapshot, err);
	if (r)
		return r;
	r = call_sites_add(&v->sites, VIEW_SHOWN, &v->nodes, &v->calls, &v->snapshot, filter);
	if (r)
		return r;
	r = heap_tree_make(&v->top_down, &v->nodes, &v->calls, &v->snapshot, HEAP_TOP_DOWN,
			   filter);
	if (r)
		return r;
	r = heap_tree_make(&v->bottom_up, &v->nodes, &v->calls, &v->snapshot,
			   HEAP_BOTTOM_UP, filter);
	if (r)
		return r;
	return add_sites(v, VIEW_LAST, v->n - 1, read, from, err);
}

static int filter_init(struct pattern *p, const char *text, struct error *err)
{
	return text ? pattern_init(p, text, err) : 0;
}

int inspect_view_make(struct inspect_view *v, const struct inspection *in, inspect_view_read *read,
		      void *from, const struct inspect_view_wish *wish, struct error *err)
{
	const struct class_rule_file allocators = { .allocators = wish->rules->allocators };
	int r;

	*v = (struct inspect_view){ .in = in, .wish = *wish };
	r = filter_init(&v->file, wish->file, err);
	if (r)
		return r;
	r = filter_init(&v->permissions, wish->permissions, err);
	if (r)
		return r;
	r = filter_init(&v->stack, wish->stack, err);
	if (r)
		return r;
	r = calls_init(&v->calls, in);
	if (r)
		return r;
	r = class_nodes_init(&v->nodes, &allocators, in, err);
	if (r)
		return r;
	r = read_all(v, read, from, err);
	if (r)
		return r;
	r = choose_snapshots(v, err);
	return r || !v->n ? r : read_shown(v, read, from, err);
}

void inspect_view_release(struct inspect_view *v)
{
	pattern_release(&v->file);
	pattern_release(&v->permissions);
	pattern_release(&v->stack);
	class_nodes_release(&v->nodes);
	calls_release(&v->calls);
	classes_release(&v->memory);
	classes_release(&v->heap);
	snapshot_release(&v->snapshot);
	call_sites_release(&v->sites);
	heap_tree_release(&v->top_down);
	heap_tree_release(&v->bottom_up);
	free(v->line);
	*v = (struct inspect_view){ 0 };
}
