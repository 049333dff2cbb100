/* SPDX-License-Identifier: MIT */
#include "analyse/graph.h"

#include "base/array.h"
#include "base/index.h"
#include "base/sort.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *const graph_edge_word[GRAPH_EDGE_KINDS] = {
	[GRAPH_TARGET] = "target", [GRAPH_LINE] = "line", [GRAPH_HOST] = "host",
	[GRAPH_WORKER] = "worker", [GRAPH_MORE] = "more",
};

/* All tasks */


/* Tasks with many prerequisites: a list of those already there is searched in vain. */
struct seen {
	uint32_t *by;		/* of each task: the last one that needed it, + 1 */
};

static uint32_t fill_needs(struct graph *g, struct seen *seen, uint32_t task, uint32_t n)
{
	const struct task *t = &g->s->rec->task[task];
	const struct chain *c = g->c;
	uint32_t before = c->waits.task[task].before;

	for (uint32_t k = t->first_after; k < t->first_after + t->n_after; k++) {
		uint32_t maker = c->waits.needs.maker[k];

		if (maker == NO_INDEX || maker == task || seen->by[maker] == task + 1)
			continue;
		seen->by[maker] = task + 1;
		g->needs[n] = maker;
		g->needs_kind[n++] = GRAPH_TARGET;
	}
	if (before == NO_INDEX || seen->by[before] == task + 1)
		return n;
	if (c->waits.task[task].why == WAIT_LINE || c->waits.task[task].why == WAIT_HOST) {
		g->needs[n] = before;
		g->needs_kind[n++] = c->waits.task[task].why == WAIT_LINE ? GRAPH_LINE : GRAPH_HOST;
	}
	return n;
}

/* The other direction: a counting sort. */
static void turn(struct graph *g)
{
	uint32_t *first = g->first_needed_by, sum = 0;

	for (size_t i = 0; i < g->n_edges; i++)
		first[g->needs[i]]++;
	for (size_t i = 0; i <= g->n; i++) {
		uint32_t here = i < g->n ? first[i] : 0;

		first[i] = sum;
		sum += here;
	}
	for (uint32_t task = 0; task < g->n; task++) {
		for (uint32_t i = g->first_needs[task]; i < g->first_needs[task + 1]; i++)
			g->needed_by[first[g->needs[i]]++] = task;
	}
	for (size_t i = g->n; i > 0; i--)
		first[i] = first[i - 1];
	first[0] = 0;
}

int graph_make(struct graph *g, const struct summary *s, const struct chain *c)
{
	const struct recording *rec = s->rec;
	struct seen seen = { calloc(rec->n_tasks + 1, sizeof *seen.by) };
	size_t most = rec->n_after + rec->n_tasks + 1;
	uint32_t n = 0;

	*g = (struct graph){ .s = s, .c = c, .n = rec->n_tasks,
		.needs = malloc(most * sizeof *g->needs),
		.needed_by = malloc(most * sizeof *g->needed_by),
		.needs_kind = malloc(most),
		.first_needs = calloc(rec->n_tasks + 2, sizeof *g->first_needs),
		.first_needed_by = calloc(rec->n_tasks + 2, sizeof *g->first_needed_by),
		.on_path = calloc(rec->n_tasks + 1, sizeof *g->on_path),
	};
	if (!seen.by || !g->needs || !g->needed_by || !g->needs_kind || !g->first_needs ||
	    !g->first_needed_by || !g->on_path) {
		free(seen.by);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < g->n; i++) {
		g->first_needs[i] = n;
		n = fill_needs(g, &seen, i, n);
	}
	g->first_needs[g->n] = n;
	g->n_edges = n;
	turn(g);
	for (size_t i = 0; i < c->n_path; i++)
		g->on_path[c->path[i]] = true;
	free(seen.by);
	return 0;
}

void graph_release(struct graph *g)
{
	free(g->needs);
	free(g->needed_by);
	free(g->needs_kind);
	free(g->first_needs);
	free(g->first_needed_by);
	free(g->on_path);
	*g = (struct graph){ 0 };
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

static uint32_t first_of(const struct graph *g, uint32_t task, bool down)
{
	return down ? g->first_needed_by[task] : g->first_needs[task];
}

static uint32_t neighbour(const struct graph *g, uint32_t at, bool down)
{
	return down ? g->needed_by[at] : g->needs[at];
}

/* The neighbours of the nodes one step nearer that are no nodes yet. queued: all that were met. */
static int next_level(struct around *w, int distance, struct index *queued)
{
	bool down = distance > 0;
	size_t n = 0, nodes = w->p->n, room;
	int r = 0;

	for (size_t i = 0; !r && i < nodes; i++) {
		uint32_t task = w->p->node[i].task;

		if (w->p->node[i].distance != distance + (down ? -1 : 1))
			continue;
		for (uint32_t k = first_of(w->g, task, down); !r && k < first_of(w->g, task + 1, down); k++) {
			uint32_t other = neighbour(w->g, k, down), any;

			if (index_find(queued, other, 0, &any))
				continue;
			r = index_put(queued, other, 0, 0);
			w->list[n++] = other;
		}
	}
	room = w->most - nodes < n ? w->most - nodes : n;
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

static int add_edges_of(struct around *w, uint32_t i)
{
	const struct graph *g = w->g;
	uint32_t task = w->p->node[i].task, from, before = g->c->waits.task[task].before;
	bool found = false;
	int r = 0;

	for (uint32_t k = g->first_needs[task]; !r && k < g->first_needs[task + 1]; k++) {
		bool link = g->on_path[task] && g->on_path[g->needs[k]] &&
			    is_link(g->c, g->needs[k], task);

		found |= g->needs[k] == before;
		if (index_find(&w->node_of, g->needs[k], 0, &from))
			r = add_edge(w, from, i, (enum graph_edge_kind)g->needs_kind[k], link);
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
	size_t n = 0;
	uint32_t dummy;

	if ((down ? node.distance < 0 : node.distance > 0) ||
	    (unsigned)abs(node.distance) >= steps)
		return 0;
	for (uint32_t k = first_of(g, node.task, down); k < first_of(g, node.task + 1, down); k++)
		n += !index_find(&w->node_of, neighbour(g, k, down), 0, &dummy);
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
	struct around w = { .g = g, .p = p, .list = malloc((g->n + 1) * sizeof *w.list),
			    .most = most };
	size_t n;
	int r = w.list ? 0 : -ENOMEM;

	*p = (struct graph_part){ 0 };
	r = r ? r : add_node(&w, task, 0);
	r = r ? r : add_levels(&w, up, down);
	n = p->n;
	for (uint32_t i = 0; !r && i < n; i++)
		r = add_edges_of(&w, i);
	for (uint32_t i = 0; !r && p->n_hidden && i < n; i++) {
		r = add_more(&w, i, false, up);
		r = r ? r : add_more(&w, i, true, down);
	}
	index_release(&w.node_of);
	free(w.list);
	return r;
}

void graph_part_release(struct graph_part *p)
{
	free(p->node);
	free(p->edge);
	*p = (struct graph_part){ 0 };
}
