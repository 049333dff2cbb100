/* SPDX-License-Identifier: MIT */
#include "analyse/graph.h"

#include "base/array.h"
#include "base/index.h"
#include "base/minmax.h"
#include "base/sort.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *const graph_edge_word[GRAPH_EDGE_KINDS] = {
	[GRAPH_TARGET] = "target", [GRAPH_LINE] = "line", [GRAPH_HOST] = "host",
	[GRAPH_WORKER] = "worker", [GRAPH_MORE] = "more",
};

/* All tasks */

static void add_need(struct graph *g, uint32_t node, enum graph_edge_kind kind)
{
	g->needs[g->n_edges] = node;
	g->needs_kind[g->n_edges++] = (uint8_t)kind;
}

/* seen[node] is the last one that needed it, + 1: a list of those already there would be searched in
 * vain. */
static void fill_needs(struct graph *g, uint32_t task)
{
	const struct task *t = &g->s->rec->task[task];
	const struct wait_task *wait = &g->c->waits.task[task];
	const struct needs *n = &g->c->waits.needs;

	for (uint32_t k = t->first_after; k < t->first_after + t->n_after; k++) {
		uint32_t maker = n->maker[k], group = n->group[k];

		if (group != NO_INDEX && g->seen[needs_node(n, group)] != task + 1) {
			g->seen[needs_node(n, group)] = task + 1;
			add_need(g, needs_node(n, group), GRAPH_TARGET);
		}
		if (maker == NO_INDEX || maker == task || g->seen[maker] == task + 1 ||
		    (group != NO_INDEX && n->node[group].last == maker))
			continue;
		g->seen[maker] = task + 1;
		add_need(g, maker, GRAPH_TARGET);
	}
	if (wait->before == NO_INDEX || g->seen[wait->before] == task + 1)
		return;
	if (wait->why == WAIT_LINE || wait->why == WAIT_HOST)
		add_need(g, wait->before, wait->why == WAIT_LINE ? GRAPH_LINE : GRAPH_HOST);
}

/* The other direction: a counting sort. */
static void turn(struct graph *g)
{
	uint32_t *first = g->first_needed_by, sum = 0;

	for (size_t i = 0; i < g->n_edges; i++)
		first[g->needs[i]]++;
	for (size_t i = 0; i <= g->n_nodes; i++) {
		uint32_t here = i < g->n_nodes ? first[i] : 0;

		first[i] = sum;
		sum += here;
	}
	for (uint32_t node = 0; node < g->n_nodes; node++) {
		for (uint32_t i = g->first_needs[node]; i < g->first_needs[node + 1]; i++)
			g->needed_by[first[g->needs[i]]++] = node;
	}
	for (size_t i = g->n_nodes; i > 0; i--)
		first[i] = first[i - 1];
	first[0] = 0;
}

int graph_make(struct graph *g, const struct summary *s, const struct chain *c)
{
	const struct recording *rec = s->rec;
	const struct needs *n = &c->waits.needs;
	size_t most = 2 * (rec->n_after + rec->n_in) + rec->n_tasks + 1;
	size_t nodes = rec->n_tasks + n->n_groups;

	*g = (struct graph){ .s = s, .c = c, .n = rec->n_tasks, .n_nodes = nodes,
		.needs = array_new(most, sizeof *g->needs),
		.needed_by = array_new(most, sizeof *g->needed_by),
		.needs_kind = malloc(most),
		.first_needs = calloc(nodes + 2, sizeof *g->first_needs),
		.first_needed_by = calloc(nodes + 2, sizeof *g->first_needed_by),
		.on_path = array_new_zero(rec->n_tasks, sizeof *g->on_path),
		.list = array_new(nodes, sizeof *g->list),
		.seen = array_new_zero(nodes, sizeof *g->seen),
		.round = calloc(1, sizeof *g->round),
	};
	if (!g->needs || !g->needed_by || !g->needs_kind || !g->first_needs || !g->first_needed_by ||
	    !g->on_path || !g->list || !g->seen || !g->round)
		return -ENOMEM;
	for (uint32_t i = 0; i < g->n; i++) {
		g->first_needs[i] = (uint32_t)g->n_edges;
		fill_needs(g, i);
	}
	for (size_t i = 0; i < n->n_groups; i++) {
		g->first_needs[g->n + i] = (uint32_t)g->n_edges;
		for (uint32_t k = n->node[i].first; k < n->node[i].first + n->node[i].n; k++)
			add_need(g, n->member[k], GRAPH_TARGET);
	}
	g->first_needs[nodes] = (uint32_t)g->n_edges;
	turn(g);
	for (size_t i = 0; i < c->n_path; i++)
		g->on_path[c->path[i]] = true;
	memset(g->seen, 0, nodes * sizeof *g->seen);
	return 0;
}

void graph_release(struct graph *g)
{
	free_all(g->needs, g->needed_by, g->needs_kind, g->first_needs, g->first_needed_by,
		 g->on_path, g->list, g->seen, g->round);
	*g = (struct graph){ 0 };
}

static uint32_t first_of(const struct graph *g, uint32_t node, bool down)
{
	return down ? g->first_needed_by[node] : g->first_needs[node];
}

/* The groups at the end of the list are replaced by what is in them. */
size_t graph_tasks(const struct graph *g, uint32_t task, bool down, const uint32_t **list)
{
	uint32_t round = ++*g->round, at = task;
	size_t n = 0, n_groups = 0, room = g->n_nodes;

	*list = g->list;
	g->seen[task] = round;
	for (;;) {
		for (uint32_t k = first_of(g, at, down); k < first_of(g, at + 1, down); k++) {
			uint32_t other = down ? g->needed_by[k] : g->needs[k];

			if (g->seen[other] == round)
				continue;
			g->seen[other] = round;
			if (other < g->n)
				g->list[n++] = other;
			else
				g->list[room - ++n_groups] = other;
		}
		if (!n_groups)
			return n;
		at = g->list[room - n_groups--];
	}
}

/* Around a task */

struct around {
	const struct graph *g;
	struct graph_part *p;
	struct index node_of;	/* task + 1 -> index of its node */
	uint32_t *list;		/* memory for the neighbours of a level */
	size_t most;
};

static bool more_important(const void *ctx, uint32_t a, uint32_t b)
{
	const struct graph *g = ctx;
	int64_t wall_a = g->s->nest[a].cost.wall_us, wall_b = g->s->nest[b].cost.wall_us;

	if (g->on_path[a] != g->on_path[b])
		return g->on_path[a];
	return wall_a != wall_b ? wall_a > wall_b : a < b;
}

static int add_node(struct around *w, uint32_t task, int distance)
{
	struct graph_node *node = array_add(&w->p->node, &w->p->n, sizeof *node);

	if (!node)
		return -ENOMEM;
	*node = (struct graph_node){ task, distance, 0, NO_INDEX };
	return index_put(&w->node_of, task, 0, (uint32_t)w->p->n - 1);
}

/* The neighbours of the nodes one step nearer that are no nodes yet. queued: all that were met. */
static int next_level(struct around *w, int distance, struct index *queued)
{
	bool down = distance > 0;
	size_t n = 0, nodes = w->p->n, room, n_others;
	const uint32_t *others;
	int r = 0;

	for (size_t i = 0; !r && i < nodes; i++) {
		uint32_t task = w->p->node[i].task;

		if (w->p->node[i].distance != distance + (down ? -1 : 1))
			continue;
		n_others = graph_tasks(w->g, task, down, &others);
		for (size_t k = 0; !r && k < n_others; k++) {
			uint32_t any;

			if (index_find(queued, others[k], 0, &any))
				continue;
			r = index_put(queued, others[k], 0, 0);
			w->list[n++] = others[k];
		}
	}
	room = MIN(w->most - nodes, n);
	sort_top(w->list, n, room, more_important, w->g);
	for (size_t i = 0; !r && i < room; i++)
		r = add_node(w, w->list[i], distance);
	w->p->n_hidden += n - room;
	return r;
}

/* Both directions in turn, so that neither takes all the room. */
static int add_levels(struct around *w, unsigned up, unsigned down)
{
	struct index queued = INDEX_INIT;
	int r = index_put(&queued, w->p->node[0].task, 0, 0);

	for (int step = 1; !r && (step <= (int)up || step <= (int)down); step++) {
		if (step <= (int)up)
			r = next_level(w, -step, &queued);
		if (!r && step <= (int)down)
			r = next_level(w, step, &queued);
	}
	index_release(&queued);
	return r;
}

static int add_edge(struct around *w, uint32_t from, uint32_t to, enum graph_edge_kind kind,
		    bool path)
{
	struct graph_edge *e = array_add(&w->p->edge, &w->p->n_edges, sizeof *e);

	if (e)
		*e = (struct graph_edge){ from, to, kind, path };
	return e ? 0 : -ENOMEM;
}

/* Whether the second task comes right after the first one in the path. */
static bool is_link(const struct chain *c, uint32_t before, uint32_t after)
{
	for (size_t i = 1; i < c->n_path; i++) {
		if (c->path[i] == after)
			return c->path[i - 1] == before;
	}
	return false;
}

/* How a task needs another one: through a group as its target. */
static enum graph_edge_kind kind_of(const struct graph *g, uint32_t task, uint32_t other)
{
	for (uint32_t k = g->first_needs[task]; k < g->first_needs[task + 1]; k++) {
		if (g->needs[k] == other)
			return (enum graph_edge_kind)g->needs_kind[k];
	}
	return GRAPH_TARGET;
}

static int add_edges_of(struct around *w, uint32_t i)
{
	const struct graph *g = w->g;
	uint32_t task = w->p->node[i].task, from, before = g->c->waits.task[task].before;
	const uint32_t *others;
	size_t n = graph_tasks(g, task, false, &others);
	bool found = false;
	int r = 0;

	for (size_t k = 0; !r && k < n; k++) {
		bool link = g->on_path[task] && g->on_path[others[k]] && is_link(g->c, others[k], task);

		found |= others[k] == before;
		if (index_find(&w->node_of, others[k], 0, &from))
			r = add_edge(w, from, i, kind_of(g, task, others[k]), link);
	}
	/* What it waited for without needing it is of interest only on the path. */
	if (!r && !found && before != NO_INDEX && g->on_path[task] && is_link(g->c, before, task) &&
	    index_find(&w->node_of, before, 0, &from))
		r = add_edge(w, from, i, GRAPH_WORKER, true);
	return r;
}

/* "and 120 more", for each node that has neighbours which were left out for want of room. */
static int add_more(struct around *w, uint32_t i, bool down, unsigned steps)
{
	const struct graph *g = w->g;
	struct graph_node node = w->p->node[i], *more;
	const uint32_t *others;
	size_t n = 0, n_others;
	uint32_t dummy;

	if ((down ? node.distance < 0 : node.distance > 0) ||
	    (unsigned)abs(node.distance) >= steps)
		return 0;
	n_others = graph_tasks(g, node.task, down, &others);
	for (size_t k = 0; k < n_others; k++)
		n += !index_find(&w->node_of, others[k], 0, &dummy);
	if (!n)
		return 0;
	more = array_add(&w->p->node, &w->p->n, sizeof *more);
	if (!more)
		return -ENOMEM;
	*more = (struct graph_node){ NO_INDEX, node.distance + (down ? 1 : -1), n, i };
	return add_edge(w, down ? i : (uint32_t)w->p->n - 1, down ? (uint32_t)w->p->n - 1 : i,
			GRAPH_MORE, false);
}

int graph_around(struct graph_part *p, const struct graph *g, uint32_t task, unsigned up,
		 unsigned down, size_t most)
{
	struct around w = { .g = g, .p = p, .list = array_new(g->n + 1, sizeof *w.list),
			    .most = most };
	size_t n;
	int r;

	*p = (struct graph_part){ 0 };
	if (!w.list)
		return -ENOMEM;
	r = add_node(&w, task, 0);
	if (r)
		goto out;
	r = add_levels(&w, up, down);
	n = p->n;
	for (uint32_t i = 0; !r && i < n; i++)
		r = add_edges_of(&w, i);
	for (uint32_t i = 0; !r && p->n_hidden && i < n; i++) {
		r = add_more(&w, i, false, up);
		if (!r)
			r = add_more(&w, i, true, down);
	}
out:
	index_release(&w.node_of);
	free(w.list);
	return r;
}

void graph_part_release(struct graph_part *p)
{
	free_all(p->node, p->edge);
	*p = (struct graph_part){ 0 };
}
