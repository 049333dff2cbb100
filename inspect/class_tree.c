/* SPDX-License-Identifier: MIT */
#include "inspect/class_tree.h"

#include "base/array.h"
#include "base/buf.h"
#include "base/minmax.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A class while the tree is made. */
struct made {
	const char *name;
	uint32_t parent;
	bool other;
	double *value;		/* [snapshot * columns + value] */
	uint32_t first_child, next;	/* CLASSES_NONE: none */
};

struct maker {
	const struct class_counts *counts;
	struct classes *out;
	size_t n;
	struct made *made;	/* parents before children */
	double *total;		/* of value 0 in each snapshot */
};

/* A part of a class that is split. */
struct part {
	uint32_t key;
	double share, size;	/* the largest of all snapshots */
};

static size_t cells(const struct maker *m)
{
	return m->counts->n_rows * m->counts->columns;
}

static void add_values(const struct maker *m, double *to, const double *value)
{
	for (size_t i = 0; i < cells(m); i++)
		to[i] += value[i];
}

static struct made *add_made(struct maker *m, const char *name, uint32_t parent)
{
	struct made *made = array_add(&m->made, &m->n, sizeof *made);

	if (!made)
		return NULL;
	*made = (struct made){ .name = name, .parent = parent, .first_child = CLASSES_NONE,
		.next = CLASSES_NONE };
	made->value = array_new_zero(cells(m), sizeof *made->value);
	return made->value ? made : NULL;
}

static void add_slot(const struct maker *m, double *to, size_t slot)
{
	unsigned columns = m->counts->columns;

	for (size_t i = 0; i < m->counts->n_rows; i++) {
		const struct class_row *row = &m->counts->row[i];

		for (unsigned v = 0; slot < row->n && v < columns; v++)
			to[i * columns + v] += row->value[slot * columns + v];
	}
}

static int by_part_size(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	return x->size != y->size ? (x->size < y->size ? 1 : -1) : array_order(x->key, y->key);
}

static struct part measure(const struct maker *m, uint32_t key, const double *value)
{
	struct part part = { .key = key };

	for (size_t i = 0; i < m->counts->n_rows; i++) {
		double size = value[i * m->counts->columns];
		double share = m->total[i] > 0 ? size / m->total[i] : 0;

		part.share = MAX(share, part.share);
		part.size = MAX(size, part.size);
	}
	return part;
}

/* Only parts that are large enough. */
static int add_part(struct part **part, size_t *n, const struct part *one)
{
	if (one->share < CLASS_SPLIT_SHARE)
		return 0;
	if (!array_add(part, n, sizeof **part))
		return -ENOMEM;
	(*part)[*n - 1] = *one;
	return 0;
}

/* What is left of a class beside the children that it got. */
static int add_rest(struct maker *m, uint32_t parent, const double *whole)
{
	struct made *made = add_made(m, "other", parent);

	if (!made)
		return -ENOMEM;
	made->other = true;
	memcpy(made->value, whole, cells(m) * sizeof *whole);
	for (size_t i = parent + 1; i + 1 < m->n; i++) {
		for (size_t k = 0; k < cells(m) && m->made[i].parent == parent; k++)
			made->value[k] -= m->made[i].value[k];
	}
	return 0;
}

static const char *text_of(const struct maker *m, uint32_t number)
{
	return m->counts->texts->name[number].p;
}

/* Callers */

static int split_callers(struct maker *m, uint32_t node)
{
	const struct class_counts *c = m->counts;
	struct part *part = NULL;
	double *whole = m->made[node].value, *value;
	size_t n = 0;
	int r;

	value = array_new(cells(m), sizeof *value);
	r = value ? 0 : -ENOMEM;
	for (size_t i = 0; i < c->n_slots && !r; i++) {
		struct part one;

		if (c->slot[i].node != node || c->slot[i].key == CLASSES_NONE)
			continue;
		memset(value, 0, cells(m) * sizeof *value);
		add_slot(m, value, i);
		one = measure(m, (uint32_t)i, value);
		r = add_part(&part, &n, &one);
	}
	free(value);
	if (n)
		qsort(part, n, sizeof *part, by_part_size);
	for (size_t i = 0; i < n && !r; i++) {
		struct made *made = add_made(m, text_of(m, c->slot[part[i].key].key), node);

		r = made ? 0 : -ENOMEM;
		if (made)
			add_slot(m, made->value, part[i].key);
	}
	if (n && !r)
		r = add_rest(m, node, whole);
	free(part);
	return r;
}

/* Directories */

struct tree {
	const struct class_path *path;
	size_t n;
	double *value;		/* [path * cells] */
};

static const double *value_of(const struct maker *m, const struct tree *t, size_t path)
{
	return t->value + path * cells(m);
}

/* The only child that has all that the path has, CLASSES_NONE: there is none. */
static uint32_t only_child(const struct maker *m, const struct tree *t, uint32_t path)
{
	for (uint32_t i = path + 1; i < t->n; i++) {
		if (t->path[i].parent == path &&
		    !memcmp(value_of(m, t, i), value_of(m, t, path), cells(m) * sizeof(double)))
			return i;
	}
	return CLASSES_NONE;
}

/* The name of a path and of those above it that it replaces. */
static const char *joined_name(struct maker *m, const struct tree *t, uint32_t top, uint32_t path)
{
	uint32_t way[CALL_PATH_MAX];
	struct buf text = BUF_INIT;
	const char *name = NULL;
	size_t n = 0;

	if (!t->path[path].is_source)
		return text_of(m, t->path[path].text);
	for (uint32_t i = path; n < CALL_PATH_MAX; i = t->path[i].parent) {
		way[n++] = i;
		if (i == top)
			break;
	}
	while (n--) {
		buf_adds(&text, text_of(m, t->path[way[n]].text));
		buf_addc(&text, '/');
	}
	if (!buf_error(&text))
		name = arena_text(m->out->arena, text.data, text.len);
	buf_release(&text);
	return name;
}

static int split_path(struct maker *m, const struct tree *t, uint32_t path, uint32_t parent,
		      unsigned depth);

static int add_path(struct maker *m, const struct tree *t, uint32_t path, uint32_t parent,
		    unsigned depth)
{
	uint32_t last = path, next, number = (uint32_t)m->n;
	struct made *made;
	const char *name;

	while ((next = only_child(m, t, last)) != CLASSES_NONE)
		last = next;
	name = joined_name(m, t, path, last);
	made = name ? add_made(m, name, parent) : NULL;
	if (!made)
		return -ENOMEM;
	memcpy(made->value, value_of(m, t, last), cells(m) * sizeof(double));
	return depth < CLASS_SPLIT_DEPTH ? split_path(m, t, last, number, depth) : 0;
}

static int split_path(struct maker *m, const struct tree *t, uint32_t path, uint32_t parent,
		      unsigned depth)
{
	const double *whole = value_of(m, t, path);
	struct part *part = NULL;
	size_t n = 0;
	int r = 0;

	for (uint32_t i = path + 1; i < t->n && !r; i++) {
		struct part one;

		if (t->path[i].parent != path)
			continue;
		one = measure(m, i, value_of(m, t, i));
		r = add_part(&part, &n, &one);
	}
	if (n)
		qsort(part, n, sizeof *part, by_part_size);
	for (size_t i = 0; i < n && !r; i++)
		r = add_path(m, t, part[i].key, parent, depth + 1);
	if (n && !r)
		r = add_rest(m, parent, whole);
	free(part);
	return r;
}

static int split_directories(struct maker *m, uint32_t node)
{
	const struct class_counts *c = m->counts;
	struct tree t = { .path = c->paths->path, .n = c->paths->n };
	int r;

	if (!t.n)
		return 0;
	t.value = array_new_zero(t.n * cells(m), sizeof *t.value);
	if (!t.value)
		return -ENOMEM;
	for (size_t i = 0; i < c->n_slots; i++) {
		uint32_t key = c->slot[i].key;

		if (c->slot[i].node == node)
			add_slot(m, t.value + (key < t.n ? key : 0) * cells(m), i);
	}
	for (size_t i = t.n - 1; i; i--)
		add_values(m, t.value + t.path[i].parent * cells(m), value_of(m, &t, i));
	r = split_path(m, &t, 0, node, 0);
	free(t.value);
	return r;
}

/* The whole */

/* Classes of the rules have the numbers of their nodes. */
static int add_nodes(struct maker *m)
{
	const struct class_counts *c = m->counts;

	for (size_t i = 0; i < c->nodes->n; i++) {
		struct made *made = add_made(m, c->nodes->node[i].name, c->nodes->node[i].parent);

		if (!made)
			return -ENOMEM;
		made->other = i && !c->nodes->node[i].rule;
	}
	for (size_t i = 0; i < c->n_slots; i++)
		add_slot(m, m->made[c->slot[i].node].value, i);
	for (size_t i = m->n - 1; i; i--)
		add_values(m, m->made[m->made[i].parent].value, m->made[i].value);
	for (size_t i = 0; i < c->n_rows; i++)
		m->total[i] = m->made[0].value[i * c->columns];
	return 0;
}

static bool has_no_value(const struct maker *m, const struct made *made)
{
	for (size_t i = 0; i < cells(m); i++) {
		if (made->value[i] != 0)
			return false;
	}
	return true;
}

/* Adds a class and, by recursion of the depth of the tree, those below it. */
static void put_class(struct maker *m, uint32_t number, uint32_t parent)
{
	const struct class_counts *c = m->counts;
	const struct made *made = &m->made[number];
	struct classes *out = m->out;
	size_t at = out->n++;

	out->item[at] = (struct memory_class){ made->name, parent,
		parent == CLASSES_NONE ? 0 : out->item[parent].depth + 1, made->other };
	for (size_t i = 0; i < c->n_rows; i++) {
		const double *value = made->value + i * c->columns;

		for (unsigned v = 0; v < c->n_values; v++)
			out->value[(at * c->n_rows + i) * c->n_values + v] = (int64_t)value[v];
		if (out->variance)
			out->variance[at * c->n_rows + i] = value[c->n_values];
	}
	for (uint32_t i = made->first_child; i != CLASSES_NONE; i = m->made[i].next) {
		if (!has_no_value(m, &m->made[i]))
			put_class(m, i, (uint32_t)at);
	}
}

static int flatten(struct maker *m)
{
	const struct class_counts *c = m->counts;
	struct classes *out = m->out;

	for (size_t i = m->n - 1; i; i--) {
		struct made *parent = &m->made[m->made[i].parent];

		m->made[i].next = parent->first_child;
		parent->first_child = (uint32_t)i;
	}
	out->n_snapshots = c->n_rows;
	out->n_values = c->n_values;
	out->item = calloc(m->n, sizeof *out->item);
	out->value = array_new_zero(m->n * c->n_rows * c->n_values + 1, sizeof *out->value);
	if (c->columns > c->n_values)
		out->variance = array_new_zero(m->n * c->n_rows, sizeof *out->variance);
	if (!out->item || !out->value || (c->columns > c->n_values && !out->variance))
		return -ENOMEM;
	put_class(m, 0, CLASSES_NONE);
	return 0;
}

int class_tree_make(struct classes *out, const struct class_counts *counts)
{
	struct maker m = { .counts = counts, .out = out };
	int r = -ENOMEM;

	m.total = array_new_zero(counts->n_rows, sizeof *m.total);
	if (m.total)
		r = add_nodes(&m);
	if (r)
		goto out;
	for (uint32_t i = 0; i < counts->nodes->n; i++) {
		if (counts->nodes->node[i].split == SPLIT_CALLER)
			r = split_callers(&m, i);
		else if (counts->nodes->node[i].split == SPLIT_DIRECTORY)
			r = split_directories(&m, i);
		if (r)
			goto out;
	}
	r = flatten(&m);
out:
	for (size_t i = 0; i < m.n; i++)
		free(m.made[i].value);
	free(m.made);
	free(m.total);
	return r;
}
