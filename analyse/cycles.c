/* SPDX-License-Identifier: MIT */
#include "analyse/cycles.h"

#include "base/array.h"
#include "base/saturate.h"
#include "recording/output_log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* One name needs another, as a line says. */
struct pair {
	uint32_t name, needs;
};

struct cycles_lines {
	struct name_table names;
	size_t n;
	struct pair *pair;
	bool in_loop;		/* BitBake's */
	uint32_t first, last;	/* names of the loop, NO_INDEX */
};

/* Lines */

static int add_pair(struct cycles *c, uint32_t name, uint32_t needs)
{
	struct pair *p;

	for (size_t i = 0; i < c->lines->n; i++) {
		if (c->lines->pair[i].name == name && c->lines->pair[i].needs == needs)
			return 0;
	}
	if (c->lines->n >= CYCLES_REPORTED_MAX)
		return 0;
	p = array_add(&c->lines->pair, &c->lines->n, sizeof *p);
	if (p)
		*p = (struct pair){ name, needs };
	return p ? 0 : -ENOMEM;
}

static int add_names(struct cycles *c, struct slice name, struct slice needs)
{
	uint32_t a, b;
	int r = name_table_add(&c->lines->names, name, &a);

	if (r)
		return r;
	r = name_table_add(&c->lines->names, needs, &b);
	if (r)
		return r;
	return add_pair(c, a, b);
}

/* What is behind a text in the line; false: the text is not there. */
static bool behind(struct slice line, const char *text, struct slice *rest)
{
	const char *at = memmem(line.p, line.len, text, strlen(text));

	if (!at)
		return false;
	at += strlen(text);
	*rest = (struct slice){ at, (size_t)(line.p + line.len - at) };
	return true;
}

static struct slice until(struct slice text, const char *end)
{
	const char *at = memmem(text.p, text.len, end, strlen(end));

	return at ? (struct slice){ text.p, (size_t)(at - text.p) } : text;
}

static int add_ninja(struct cycles *c, struct slice rest)
{
	struct slice name = until(rest, " -> "), next;
	int r = 0;

	while (!r && behind(rest, " -> ", &rest)) {
		next = until(until(rest, " -> "), " [");
		r = add_names(c, name, next);
		name = next;
	}
	return r;
}

static int end_loop(struct cycles *c)
{
	struct cycles_lines *l = c->lines;
	int r = l->in_loop && l->first != NO_INDEX ? add_pair(c, l->first, l->last) : 0;

	l->in_loop = false;
	return r;
}

static int add_bitbake(struct cycles *c, struct slice task)
{
	struct cycles_lines *l = c->lines;
	uint32_t name;
	int r = name_table_add(&l->names, until(task, " ("), &name);

	if (!r && l->last != NO_INDEX)
		r = add_pair(c, name, l->last);
	l->first = l->first == NO_INDEX ? name : l->first;
	l->last = name;
	return r;
}

static int add_line(struct cycles *c, struct slice line)
{
	struct slice rest, needs;
	int r;

	if (c->lines->in_loop) {
		if (behind(line, "  Task ", &rest))
			return add_bitbake(c, rest);
		r = end_loop(c);
		if (r)
			return r;
	}
	if (!memchr(line.p, ' ', line.len))
		return 0;
	if (behind(line, ": Circular ", &rest) && behind(rest, " <- ", &needs) &&
	    behind(needs, " dependency dropped.", &(struct slice){ NULL, 0 }))
		return add_names(c, until(rest, " <- "), until(needs, " dependency dropped."));
	if (behind(line, "ninja: error: dependency cycle: ", &rest))
		return add_ninja(c, rest);
	if (behind(line, "Dependency loop #", &rest) && behind(rest, " found:", &needs)) {
		c->lines->in_loop = true;
		c->lines->first = c->lines->last = NO_INDEX;
	}
	return 0;
}

static int begin_loop_lines(struct cycles *c)
{
	*c = (struct cycles){ .memory = arena_new(), .lines = calloc(1, sizeof *c->lines) };
	if (!c->memory || !c->lines)
		return -ENOMEM;
	c->lines->names.arena = c->memory;
	return 0;
}

/* Cycles: nodes are the targets of the summary, and then names of no target */

#define EDGES_MAX 10000000	/* large groups that many tasks need have very many */

struct search {
	struct cycles *c;
	const struct graph *g;
	uint32_t *name_of;	/* of each target: its number among the names, or NO_INDEX */
	size_t n_nodes, n_edges, n_recorded, n_assumed_from;
	uint32_t *from, *to;
	uint32_t *component;	/* of each node */
	uint32_t *cycle_of;	/* of each component, or NO_INDEX */
	uint32_t *extra;	/* of each name: its node without a task, or NO_INDEX */
};

static uint32_t target_of(const struct search *x, uint32_t task)
{
	return x->g->s->nest[task].target;
}

static const struct task *task_of(const struct search *x, uint32_t target)
{
	return &x->g->s->rec->task[x->g->s->target[target].first_task];
}

static int add_edge(struct search *x, uint32_t from, uint32_t to)
{
	size_t n = x->n_edges;
	uint32_t *a = array_add(&x->from, &n, sizeof *a), *b;

	n = x->n_edges;
	b = a ? array_add(&x->to, &n, sizeof *b) : NULL;
	if (!b)
		return -ENOMEM;
	*a = from;
	*b = to;
	x->n_edges = n;
	return 0;
}

static int add_recorded(struct search *x)
{
	const uint32_t *list;
	int r = 0;

	for (uint32_t task = 0; !r && task < x->g->n; task++) {
		size_t n = graph_tasks(x->g, task, false, &list);

		for (size_t k = 0; !r && k < n && x->n_edges < EDGES_MAX; k++) {
			uint32_t from = target_of(x, list[k]), to = target_of(x, task);

			if (from != NO_INDEX && to != NO_INDEX && from != to)
				r = add_edge(x, from, to);
		}
	}
	x->n_recorded = x->n_edges;
	return r;
}

static uint32_t node_without_task(struct search *x, uint32_t name)
{
	if (x->extra[name] == NO_INDEX)
		x->extra[name] = (uint32_t)x->n_nodes++;
	return x->extra[name];
}

/* The target of a name in an instance, NO_INDEX: none. */
static uint32_t find_target(const struct search *x, uint32_t name, uint32_t instance)
{
	for (uint32_t i = 0; i < x->g->s->n_targets; i++) {
		if (x->name_of[i] == name && task_of(x, i)->instance == instance)
			return i;
	}
	return NO_INDEX;
}

/* A pair in each instance that has one of its names as a target; otherwise by its names alone. */
static int add_reported(struct search *x, const struct pair *p)
{
	bool found = false;
	int r = 0;

	for (uint32_t i = 0; i < x->g->s->n_targets; i++) {
		uint32_t instance = task_of(x, i)->instance, other;

		if (x->name_of[i] == p->name) {
			other = find_target(x, p->needs, instance);
			r = add_edge(x, other == NO_INDEX ? node_without_task(x, p->needs) : other, i);
			found = true;
		} else if (x->name_of[i] == p->needs &&
			   find_target(x, p->name, instance) == NO_INDEX) {
			r = add_edge(x, i, node_without_task(x, p->name));
			found = true;
		}
		if (r)
			return r;
	}
	return r || found ? r : add_edge(x, node_without_task(x, p->needs), node_without_task(x, p->name));
}

static int find_names(struct search *x)
{
	const struct name_table *names = &x->c->lines->names;
	size_t n = x->g->s->n_targets;

	x->n_nodes = n;
	x->name_of = array_new(n, sizeof *x->name_of);
	x->extra = array_new(names->n, sizeof *x->extra);
	if (!x->name_of || !x->extra)
		return -ENOMEM;
	memset(x->extra, 0xff, names->n * sizeof *x->extra);
	for (uint32_t i = 0; i < n; i++)
		x->name_of[i] = name_table_find(names, slice_of(task_of(x, i)->name));
	return 0;
}

static int find_components(struct search *x)
{
	free(x->component);
	x->component = array_new(x->n_nodes, sizeof *x->component);
	return x->component ? graph_components(x->component, x->n_nodes, x->from, x->to, x->n_edges) :
	       -ENOMEM;
}

/* The build tool found a cycle; where the recorded dependencies do not close it, something else does. */
static int assume_rest(struct search *x)
{
	size_t n = x->n_edges;
	int r = 0;

	x->n_assumed_from = n;
	for (size_t i = x->n_recorded; i < n; i++) {
		if (x->component[x->from[i]] != x->component[x->to[i]])
			r = add_edge(x, x->to[i], x->from[i]);
		if (r)
			return r;
	}
	return r || n == x->n_edges ? r : find_components(x);
}

/* Components with a cycle get a number, in cycle_of[component]. */
static int number_cycles(struct search *x)
{
	struct cycles *c = x->c;
	bool *has_edge = array_new_zero(x->n_nodes, sizeof *has_edge);
	int r = 0;

	x->cycle_of = array_new(x->n_nodes, sizeof *x->cycle_of);
	if (!x->cycle_of || !has_edge)
		r = -ENOMEM;
	if (r)
		goto out;
	for (size_t i = 0; i < x->n_edges; i++)
		has_edge[x->component[x->from[i]]] |= x->component[x->from[i]] == x->component[x->to[i]];
	for (size_t i = 0; i < x->n_nodes; i++)
		x->cycle_of[i] = NO_INDEX;
	for (size_t i = 0; i < x->n_nodes; i++) {
		uint32_t k = x->component[i];
		struct cycles_item *item;

		if (!has_edge[k] || x->cycle_of[k] != NO_INDEX)
			continue;
		x->cycle_of[k] = (uint32_t)c->n;
		item = array_add(&c->cycle, &c->n, sizeof *item);
		if (item)
			*item = (struct cycles_item){ .whole = true };
		else
			r = -ENOMEM;
		if (r)
			goto out;
	}
out:
	free(has_edge);
	return r;
}

static const char *name_of(const struct search *x, uint32_t node)
{
	const struct name_table *names = &x->c->lines->names;

	if (node < x->g->s->n_targets)
		return task_of(x, node)->name;
	for (size_t i = 0; i < names->n; i++) {
		if (x->extra[i] == node)
			return names->name[i].p;
	}
	return "";
}

static void add_tasks(struct cycles_item *item, const struct search *x, uint32_t target)
{
	const struct summary *s = x->g->s;
	uint32_t i = s->target[target].first_task;

	for (; i != NO_INDEX; i = s->nest[i].next) {
		item->n_tasks++;
		item->wall_us = sat_add(item->wall_us, s->nest[i].cost.wall_us);
	}
}

/* Nodes and edges of each cycle together. place: of each node of the search. */
static int fill_cycles(struct search *x, uint32_t *place)
{
	struct cycles *c = x->c;
	uint32_t n_nodes = 0, n_edges = 0;

	for (size_t i = 0; i < x->n_nodes; i++) {
		if (x->cycle_of[x->component[i]] != NO_INDEX)
			c->cycle[x->cycle_of[x->component[i]]].n_nodes++;
	}
	for (size_t i = 0; i < x->n_edges; i++) {
		uint32_t k = x->component[x->from[i]];

		if (k == x->component[x->to[i]])
			c->cycle[x->cycle_of[k]].n_edges++;
	}
	for (size_t i = 0; i < c->n; i++) {
		c->cycle[i].first_node = n_nodes;
		c->cycle[i].first_edge = n_edges;
		n_nodes += c->cycle[i].n_nodes;
		n_edges += c->cycle[i].n_edges;
		c->cycle[i].n_nodes = c->cycle[i].n_edges = 0;
	}
	c->node = array_new(n_nodes, sizeof *c->node);
	c->edge = array_new(n_edges, sizeof *c->edge);
	if (!c->node || !c->edge)
		return -ENOMEM;
	for (uint32_t i = 0; i < x->n_nodes; i++) {
		uint32_t k = x->cycle_of[x->component[i]];
		struct cycles_item *item = k == NO_INDEX ? NULL : &c->cycle[k];
		bool is_target = i < x->g->s->n_targets;

		if (!item)
			continue;
		place[i] = item->first_node + item->n_nodes++;
		c->node[place[i]] = (struct cycles_node){ name_of(x, i),
			is_target ? x->g->s->target[i].first_task : NO_INDEX, k };
		if (is_target)
			add_tasks(item, x, i);
	}
	for (size_t i = 0; i < x->n_edges; i++) {
		uint32_t k = x->component[x->from[i]];
		struct cycles_item *item;

		if (k != x->component[x->to[i]])
			continue;
		item = &c->cycle[x->cycle_of[k]];
		item->whole &= i < x->n_assumed_from;
		c->edge[item->first_edge + item->n_edges++] = (struct cycles_edge){
			place[x->from[i]], place[x->to[i]], i >= x->n_assumed_from ? CYCLES_ASSUMED :
			i >= x->n_recorded ? CYCLES_REPORTED : CYCLES_RECORDED };
	}
	return 0;
}

/* Indices of nodes remain. */
static int by_size(const void *a, const void *b)
{
	const struct cycles_item *x = a, *y = b;

	return x->n_nodes != y->n_nodes ? array_order(y->n_nodes, x->n_nodes) :
	       array_order(x->first_node, y->first_node);
}

static int find_cycles(struct cycles *c, const struct graph *g)
{
	struct search x = { .c = c, .g = g };
	uint32_t *place = NULL;
	int r = end_loop(c);

	c->n_reported = c->lines->n;
	if (r || !c->lines->n)
		return r;
	r = find_names(&x);
	if (r)
		goto out;
	r = add_recorded(&x);
	if (r)
		goto out;
	for (size_t i = 0; i < c->lines->n; i++) {
		r = add_reported(&x, &c->lines->pair[i]);
		if (r)
			goto out;
	}
	r = find_components(&x);
	if (r)
		goto out;
	r = assume_rest(&x);
	if (r)
		goto out;
	r = number_cycles(&x);
	if (r)
		goto out;
	place = array_new(x.n_nodes, sizeof *place);
	r = place ? fill_cycles(&x, place) : -ENOMEM;
	if (r)
		goto out;
	if (c->n)
		qsort(c->cycle, c->n, sizeof *c->cycle, by_size);
	for (size_t i = 0; i < c->n; i++) {
		for (uint32_t k = 0; k < c->cycle[i].n_nodes; k++)
			c->node[c->cycle[i].first_node + k].cycle = (uint32_t)i;
	}
out:
	free_all(place, x.name_of, x.extra, x.from, x.to, x.component, x.cycle_of);
	return r;
}

int cycles_read(struct cycles *c, const struct graph *g, const char *path,
		const struct recording_codec *codec, struct error *err)
{
	struct output *o = NULL;
	struct output_line line;
	int r = begin_loop_lines(c), more = 1;

	if (r)
		return error_sys(err, r, path, "cannot look for cycles");
	r = output_open(&o, path, codec, err);
	c->has_output = !r;
	if (r == -ENOENT)
		return 0;
	if (r)
		goto out;
	while ((more = output_next(o, &line, true)) > 0) {
		r = add_line(c, line.text);
		if (r)
			goto out;
	}
	r = more < 0 ? more : find_cycles(c, g);
out:
	output_close(o);
	return r ? error_sys(err, r, path, "cannot look for cycles in the output") : 0;
}

void cycles_release(struct cycles *c)
{
	if (c->lines) {
		name_table_release(&c->lines->names);
		free_all(c->lines->pair, c->lines);
	}
	free_all(c->cycle, c->node, c->edge);
	arena_free(c->memory);
	*c = (struct cycles){ 0 };
}
