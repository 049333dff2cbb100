/* SPDX-License-Identifier: MIT */
#include "analyse/needs.h"

#include "analyse/needs_names.h"
#include "base/arena.h"
#include "base/array.h"
#include "base/index.h"

#include <errno.h>
#include <stdlib.h>

/* The groups of the recording with one name in one instance are one, which has the number of the
 * first of them. */
struct entry {
	uint32_t next;		/* of the same name */
	uint32_t node;		/* of the first, once it is known */
	/* The search behind it: */
	bool met;
	uint32_t from;		/* the group before it in the search */
	uint32_t at, name;	/* where it is: an entry, and one of its names */
	uint32_t last;
};

struct needs_sweep {
	const struct summary *s;
	const struct recording *rec;
	struct needs *n;
	struct arena *memory;
	struct needs_names names;
	struct entry *entry;
	struct index first;	/* instance, path -> the first entry */
	size_t n_members;
	uint32_t *order;	/* of each path: see needs_order(); NULL: of none */
};

static int64_t end_us(const struct needs_sweep *w, uint32_t task)
{
	return recording_task_end_us(w->rec, &w->rec->task[task]);
}

static void latest(const struct needs_sweep *w, uint32_t *last, uint32_t task)
{
	if (task != NO_INDEX && (*last == NO_INDEX || end_us(w, task) >= end_us(w, *last)))
		*last = task;
}

/* The group that a name of an instance means. */
static uint32_t group_of(const struct needs_sweep *w, uint32_t instance, uint32_t path)
{
	uint32_t entry = NO_INDEX;

	if (path != NO_INDEX && w->rec->n_groups)
		index_find(&w->first, (uint64_t)instance << 32 | path, 0, &entry);
	return entry;
}

static uint32_t maker_of(const struct needs_sweep *w, uint32_t path)
{
	return path == NO_INDEX ? NO_INDEX : *needs_names_last(&w->names, path);
}

/* Groups */

static void begin_entry(struct needs_sweep *w, uint32_t entry, uint32_t from)
{
	struct entry *e = &w->entry[entry];

	e->met = true;
	e->from = from;
	e->at = entry;
	e->name = w->rec->group[entry].first_in;
	e->last = NO_INDEX;
}

/* The next name of a group in the search, or NO_INDEX. */
static uint32_t next_name(const struct needs_sweep *w, struct entry *e)
{
	while (e->at != NO_INDEX) {
		const struct target_group *g = &w->rec->group[e->at];

		if (e->name < g->first_in + g->n_in)
			return e->name++;
		e->at = w->entry[e->at].next;
		if (e->at != NO_INDEX)
			e->name = w->rec->group[e->at].first_in;
	}
	return NO_INDEX;
}

/* All that it has is known now. */
static void finish_entry(struct needs_sweep *w, uint32_t entry)
{
	struct entry *e = &w->entry[entry];
	uint32_t instance = w->rec->group[entry].instance, name;
	struct needs_group *node = &w->n->node[w->n->n_groups];

	*node = (struct needs_group){ w->rec->group[entry].name, instance,
		(uint32_t)w->n_members, 0, e->last };
	e->at = entry;
	e->name = w->rec->group[entry].first_in;
	while ((name = next_name(w, e)) != NO_INDEX) {
		uint32_t maker = maker_of(w, w->names.of_in[name]);
		uint32_t other = group_of(w, instance, w->names.of_in[name]);

		if (maker != NO_INDEX)
			w->n->member[w->n_members++] = maker;
		if (other != NO_INDEX && w->entry[other].node != NO_INDEX)
			w->n->member[w->n_members++] = needs_node(w->n, w->entry[other].node);
	}
	node->n = (uint32_t)w->n_members - node->first;
	e->node = (uint32_t)w->n->n_groups++;
}

/* Groups may be nested as deeply as there are groups, and in circles: no recursion. */
static void search(struct needs_sweep *w, uint32_t entry)
{
	begin_entry(w, entry, NO_INDEX);
	while (entry != NO_INDEX) {
		struct entry *e = &w->entry[entry];
		uint32_t name = next_name(w, e), path, other;

		if (name == NO_INDEX) {
			finish_entry(w, entry);
			if (e->from != NO_INDEX)
				latest(w, &w->entry[e->from].last, e->last);
			entry = e->from;
			continue;
		}
		path = w->names.of_in[name];
		other = group_of(w, w->rec->group[entry].instance, path);
		latest(w, &e->last, maker_of(w, path));
		if (other == NO_INDEX)
			continue;
		if (w->entry[other].node != NO_INDEX) {
			latest(w, &e->last, w->entry[other].last);
		} else if (!w->entry[other].met) {
			begin_entry(w, other, entry);
			entry = other;
		}
	}
}

/* Rules with double colons */

/* How many wait for each path: 0, 1 or more. */
static void count_users(const struct needs_sweep *w, uint8_t *users)
{
	for (size_t k = 0; k < w->rec->n_after; k++) {
		if (w->names.of_after[k] != NO_INDEX)
			users[w->names.of_after[k]] += users[w->names.of_after[k]] < 2;
	}
	for (size_t k = 0; k < w->rec->n_in; k++) {
		if (w->names.of_in[k] != NO_INDEX)
			users[w->names.of_in[k]] += users[w->names.of_in[k]] < 2;
	}
}

/* The target whose earlier rules come before a task and what only it needs. */
static uint32_t order_of(const struct needs_sweep *w, uint32_t task)
{
	const struct task *t = &w->rec->task[task];
	uint32_t target = w->s->nest[task].target, first = w->s->target[target].first_task;

	if (w->rec->instance[t->instance].level < 0)
		return NO_INDEX;
	if (first != task && needs_other_rule(t, &w->rec->task[first]))
		return target;
	return w->order ? needs_order(w, task) : NO_INDEX;
}

/* A name for which only one waits, and if it is a group, what is in that. */
static void put_order(struct needs_sweep *w, const uint8_t *users, uint32_t instance, uint32_t path,
		      uint32_t target, uint32_t *list)
{
	size_t n = 0;

	for (;;) {
		uint32_t entry = NO_INDEX;

		if (path != NO_INDEX && users[path] == 1 && w->order[path] == NO_INDEX) {
			w->order[path] = target;
			entry = group_of(w, instance, path);
		}
		for (; entry != NO_INDEX; entry = w->entry[entry].next) {
			const struct target_group *g = &w->rec->group[entry];

			for (uint32_t k = g->first_in; k < g->first_in + g->n_in; k++)
				list[n++] = w->names.of_in[k];
		}
		if (!n)
			return;
		path = list[--n];
	}
}

/* What a task needs comes before it in the order of time. */
static int find_orders(struct needs_sweep *w)
{
	const struct summary *s = w->s;
	uint8_t *users = NULL;
	uint32_t *list = NULL;

	for (size_t i = s->n_ran; i--; ) {
		const struct task *t = &w->rec->task[s->order[i]];
		uint32_t target = order_of(w, s->order[i]);

		if (target == NO_INDEX)
			continue;
		if (!w->order) {
			w->order = arena_alloc(w->memory, w->names.n_paths * sizeof *w->order);
			users = arena_alloc(w->memory, w->names.n_paths);
			list = arena_alloc(w->memory, (w->rec->n_in + 1) * sizeof *list);
			if (!w->order || !users || !list)
				return -ENOMEM;
			memset(w->order, 0xff, w->names.n_paths * sizeof *w->order);
			count_users(w, users);
		}
		for (uint32_t k = t->first_after; k < t->first_after + t->n_after; k++)
			put_order(w, users, t->instance, w->names.of_after[k], target, list);
	}
	return 0;
}

uint32_t needs_order(const struct needs_sweep *w, uint32_t task)
{
	uint32_t path = w->names.of_target[w->s->nest[task].target];

	return w->order && path != NO_INDEX ? w->order[path] : NO_INDEX;
}

/* The sweep */

void needs_ended(struct needs_sweep *w, uint32_t task)
{
	const struct task *t = &w->rec->task[task];
	uint32_t path = w->names.of_target[w->s->nest[task].target];

	for (uint32_t k = t->first_out; k < t->first_out + t->n_out; k++) {
		if (w->names.of_out[k] != NO_INDEX)
			latest(w, needs_names_last(&w->names, w->names.of_out[k]), task);
	}
	if (path != NO_INDEX)
		latest(w, needs_names_last(&w->names, path), task);
}

void needs_start(struct needs_sweep *w, uint32_t task)
{
	const struct task *t = &w->rec->task[task];
	struct needs *n = w->n;

	for (size_t k = t->first_after; k < (size_t)t->first_after + t->n_after; k++) {
		uint32_t path = w->names.of_after[k], entry, maker = maker_of(w, path);

		if (path == NO_INDEX)
			continue;
		n->other_file[k] = maker != NO_INDEX &&
				   w->names.of_target[w->s->nest[maker].target] != path;
		entry = group_of(w, t->instance, path);
		if (entry != NO_INDEX && !w->entry[entry].met)
			search(w, entry);
		if (entry != NO_INDEX && w->entry[entry].node != NO_INDEX) {
			n->group[k] = w->entry[entry].node;
			latest(w, &maker, n->node[n->group[k]].last);
		}
		n->maker[k] = maker;
	}
}

static int find_entries(struct needs_sweep *w)
{
	const struct recording *rec = w->rec;
	int r = 0;

	for (size_t i = rec->n_groups; i--; ) {
		uint64_t key = (uint64_t)rec->group[i].instance << 32 | w->names.of_group[i];
		uint32_t next = NO_INDEX;

		if (w->names.of_group[i] == NO_INDEX)
			continue;	/* nobody names it */
		index_find(&w->first, key, 0, &next);
		w->entry[i] = (struct entry){ .next = next, .node = NO_INDEX };
		r = index_put(&w->first, key, 0, (uint32_t)i);
		if (r)
			return r;
	}
	return 0;
}

int needs_begin(struct needs_sweep **sweep, struct needs *n, const struct summary *s)
{
	const struct recording *rec = s->rec;
	struct needs_sweep *w = calloc(1, sizeof *w);
	int r = -ENOMEM;

	*sweep = w;
	*n = (struct needs){ .n_tasks = rec->n_tasks };
	if (!w)
		return r;
	*w = (struct needs_sweep){ .s = s, .rec = rec, .n = n, .memory = arena_new() };
	n->maker = array_new(rec->n_after, sizeof *n->maker);
	n->group = array_new(rec->n_after, sizeof *n->group);
	n->other_file = array_new_zero(rec->n_after, sizeof *n->other_file);
	n->node = array_new(rec->n_groups + 1, sizeof *n->node);
	n->member = array_new(2 * rec->n_in, sizeof *n->member);
	w->entry = w->memory ? arena_alloc(w->memory, (rec->n_groups + 1) * sizeof *w->entry) : NULL;
	if (n->maker && n->group && n->other_file && n->node && n->member && w->entry) {
		memset(n->maker, 0xff, rec->n_after * sizeof *n->maker);
		memset(n->group, 0xff, rec->n_after * sizeof *n->group);
		r = needs_names_make(&w->names, s, w->memory);
	}
	if (r)
		return r;
	r = find_entries(w);
	if (r)
		return r;
	return find_orders(w);
}

void needs_end(struct needs_sweep *w)
{
	if (!w)
		return;
	index_release(&w->first);
	arena_free(w->memory);
	free(w);
}

void needs_release(struct needs *n)
{
	free_all(n->maker, n->group, n->other_file, n->node, n->member);
	*n = (struct needs){ 0 };
}
