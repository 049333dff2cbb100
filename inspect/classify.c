/* SPDX-License-Identifier: MIT */
#include "inspect/classify.h"

#include "base/array.h"
#include "base/index.h"
#include "inspect/class_tree.h"
#include "inspect/heap_tree.h"
#include "inspect/memory_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *const heap_value_words[HEAP_VALUES] = {
	"live_bytes", "live_count", "peak_bytes", "allocated_bytes", "allocated_count",
	"temporary_count",
};

struct classifier {
	enum classify_kind kind;
	const struct inspection *in;
	struct arena *arena;		/* of texts, and then of the classes */
	struct name_table texts;	/* of functions and directories that split a class */
	struct class_nodes nodes;
	struct class_paths paths;
	struct calls calls;
	struct memory_parts parts;
	size_t n_slots;
	struct class_slot *slot;
	struct index slots;	/* node and key -> slot */
	struct index known;	/* file, stack and permissions -> slot */
	size_t n_rows;
	struct class_row *row;	/* the last one grows while its snapshot is read */
	struct buf text;
};

static unsigned n_values(const struct classifier *c)
{
	return c->kind == CLASSIFY_HEAP ? (unsigned)HEAP_VALUES : (unsigned)MAPPING_VALUES;
}

/* The heap has a variance too. */
static unsigned columns(const struct classifier *c)
{
	return n_values(c) + (c->kind == CLASSIFY_HEAP);
}

int classifier_new(struct classifier **made, enum classify_kind kind,
		   const struct class_rule_file *file, const struct inspection *in, struct error *err)
{
	struct classifier *c = *made = calloc(1, sizeof *c);
	int r;

	if (!c)
		return -ENOMEM;
	c->kind = kind;
	c->in = in;
	c->arena = c->texts.arena = arena_new();
	if (!c->arena)
		return -ENOMEM;
	r = calls_init(&c->calls, in);
	return r ? r : class_nodes_init(&c->nodes, file, in, err);
}

void classifier_free(struct classifier *c)
{
	if (!c)
		return;
	class_nodes_release(&c->nodes);
	class_paths_release(&c->paths);
	calls_release(&c->calls);
	memory_parts_release(&c->parts);
	index_release(&c->slots);
	index_release(&c->known);
	for (size_t i = 0; i < c->n_rows; i++)
		free(c->row[i].value);
	free_all(c->row, c->slot);
	buf_release(&c->text);
	name_table_release(&c->texts);
	arena_free(c->arena);
	free(c);
}

/* Slots */

static int find_slot(struct classifier *c, uint32_t node, uint32_t key, uint32_t *slot)
{
	if (index_find(&c->slots, node, key, slot))
		return 0;
	*slot = (uint32_t)c->n_slots;
	if (!array_add(&c->slot, &c->n_slots, sizeof *c->slot))
		return -ENOMEM;
	c->slot[*slot] = (struct class_slot){ node, key };
	return index_put(&c->slots, node, key, *slot);
}

static int caller_key(struct classifier *c, size_t after, uint32_t *key)
{
	size_t call;
	int r = class_nodes_blame(&c->nodes, &c->calls, after, &call);

	if (r || call >= c->calls.n)
		return r;
	buf_clear(&c->text);
	call_names_short(&c->text, calls_function(&c->calls, c->calls.call[call].function));
	r = buf_error(&c->text);
	return r ? r : name_table_add(&c->texts, (struct slice){ c->text.data, c->text.len },
				      key);
}

static int directory_key(struct classifier *c, size_t after, uint32_t *key)
{
	size_t call;
	int r = class_nodes_blame(&c->nodes, &c->calls, after, &call);

	return r || call >= c->calls.n ? r :
	       class_paths_add(&c->paths, &c->texts, &c->calls, call, key);
}

static int classify(struct classifier *c, const struct class_item *item, uint32_t *slot)
{
	uint32_t node, key = CLASSES_NONE;
	size_t after;
	int r = class_nodes_find(&c->nodes, item, &node, &after);

	if (!r && item->calls && c->nodes.node[node].split == SPLIT_CALLER)
		r = caller_key(c, after, &key);
	else if (!r && item->calls && c->nodes.node[node].split == SPLIT_DIRECTORY)
		r = directory_key(c, after, &key);
	return r ? r : find_slot(c, node, key, slot);
}

/* The place of the values of an item in this snapshot. */
static int place_values(struct classifier *c, uint32_t file, const char permissions[5],
			uint32_t stack, double **value)
{
	struct class_row *row = &c->row[c->n_rows - 1];
	struct class_item item = { .file = file, .permissions = permissions };
	uint64_t a = (uint64_t)file << 32 | stack, b = 0;
	uint32_t slot;
	int r = 0;

	memcpy(&b, permissions, 4);
	if (!index_find(&c->known, a, b, &slot)) {
		if (stack != INSPECTION_NONE) {
			r = calls_read(&c->calls, stack);
			if (r)
				return r;
			item.calls = &c->calls;
		}
		r = classify(c, &item, &slot);
		if (r)
			return r;
		r = index_put(&c->known, a, b, slot);
		if (r)
			return r;
	}
	while (row->n <= slot) {
		double *grown = array_grow(row->value, row->n, columns(c) * sizeof *grown);

		if (!grown)
			return -ENOMEM;
		row->value = grown;
		memset(grown + row->n++ * columns(c), 0, columns(c) * sizeof *grown);
	}
	*value = row->value + slot * columns(c);
	return 0;
}

/* Snapshots */

static int add_parts(struct classifier *c, const struct snapshot *s)
{
	int r = memory_parts_read(&c->parts, c->in, s);

	for (size_t i = 0; i < c->parts.n && !r; i++) {
		const struct memory_part *part = &c->parts.part[i];
		double *value;

		r = place_values(c, part->file, part->permissions, part->stack, &value);
		for (int v = 0; v < MAPPING_VALUES && !r; v++)
			value[v] += (double)part->kb[v];
	}
	return r;
}

static int add_sites(struct classifier *c, const struct snapshot *s)
{
	int r = 0;

	for (size_t i = 0; i < s->n_sites && !r; i++) {
		const struct site *site = &s->site[i];
		int64_t of_site[HEAP_VALUES] = { 0 };
		double *value;

		r = place_values(c, site->mapped ? INSPECTION_NONE : PART_HEAP, "rw-p", site->stack,
				 &value);
		if (r)
			break;
		heap_add_site(of_site, &value[HEAP_VALUES], site);
		for (int v = 0; v < HEAP_VALUES; v++)
			value[v] += (double)of_site[v];
	}
	return r;
}

int classifier_add(struct classifier *c, const struct snapshot *s)
{
	struct class_row *row = array_add(&c->row, &c->n_rows, sizeof *row);

	if (!row)
		return -ENOMEM;
	*row = (struct class_row){ 0 };
	return c->kind == CLASSIFY_HEAP ? add_sites(c, s) : add_parts(c, s);
}

int classifier_done(struct classifier *c, struct classes *out)
{
	const struct class_counts counts = {
		.nodes = &c->nodes, .paths = &c->paths, .texts = &c->texts, .n_slots = c->n_slots,
		.slot = c->slot, .n_rows = c->n_rows, .row = c->row, .columns = columns(c),
		.n_values = n_values(c),
	};
	int r;

	*out = (struct classes){ .arena = c->arena };
	c->arena = NULL;
	r = class_tree_make(out, &counts);
	if (r)
		classes_release(out);
	return r;
}

int64_t classes_value(const struct classes *c, size_t class, size_t snapshot, unsigned value)
{
	return c->value[(class * c->n_snapshots + snapshot) * c->n_values + value];
}

void classes_release(struct classes *c)
{
	free_all(c->item, c->value, c->variance);
	arena_free(c->arena);
	*c = (struct classes){ 0 };
}
