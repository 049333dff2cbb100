/* SPDX-License-Identifier: MIT */
#include "analyse/cycles.h"
#include "analyse/process_tree.h"
#include "analyse/unread.h"
#include "base/array.h"
#include "base/json.h"
#include "base/minmax.h"
#include "convert/zstd.h"
#include "live/api_parts.h"
#include "live/source.h"
#include "live/task_json.h"
#include "render/graph_layout.h"
#include "render/chart/works.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

/* The dependencies around a task or of a cycle, with the places of nodes and edges; and what a build
 * has that it need not have. */

#define STEPS 2
#define NODES 60
#define ROWS 200
#define ROWS_MAX 1000

/* Kept as long as the recording. */
struct kept {
	struct graph graph;
	struct works works;
	uint8_t *colour;	/* of each task */
	struct cycles cycles;
	struct unread unread;
	bool has_garbage, running;
};

static void release_kept(void *value)
{
	struct kept *k = value;

	graph_release(&k->graph);
	works_release(&k->works);
	cycles_release(&k->cycles);
	unread_release(&k->unread);
	free_all(k->colour, k);
}

static int fill_graph(struct kept *k, const struct source *s)
{
	int r = graph_make(&k->graph, &s->summary, &s->chain);

	r = r ? r : works_make(&k->works, &s->summary);
	k->running = s->running;
	k->colour = array_new_zero(s->recording.n_tasks, 1);
	if (!r && !k->colour)
		r = -ENOMEM;
	for (size_t i = 0; !r && i < s->recording.n_tasks; i++)
		k->colour[i] = COLOUR_GREY;
	for (size_t i = 0; !r && i < s->summary.n_ran; i++)
		k->colour[s->summary.order[i]] = (uint8_t)works_colour(&k->works, i);
	return r;
}

static int need_graph(struct kept **out, struct source *s, struct error *err)
{
	struct source_kept *kept = &s->kept[SOURCE_KEEPS_GRAPH];
	struct kept *k;
	int r = source_need(s, SOURCE_CHAIN, err);

	if (r)
		return r;
	*out = kept->value;
	if (*out)
		return 0;
	k = calloc(1, sizeof *k);
	r = k ? fill_graph(k, s) : -ENOMEM;
	if (r) {
		if (k)
			release_kept(k);
		return error_sys(err, r, NULL, "cannot find the dependencies");
	}
	*kept = (struct source_kept){ k, release_kept };
	*out = k;
	return 0;
}

static int need_garbage(struct kept **out, struct source *s, struct error *err)
{
	char path[PATH_MAX];
	struct kept *k;
	int r = need_graph(out, s, err);

	k = r ? NULL : *out;
	if (r || k->has_garbage)
		return r;
	cycles_release(&k->cycles);
	unread_release(&k->unread);
	if (source_directory(s, path))
		r = cycles_read(&k->cycles, &k->graph, path, &zstd_codec, err);
	if (!r && unread_find(&k->unread, &k->graph))
		r = error_sys(err, -ENOMEM, NULL, "cannot find unread outputs");
	k->has_garbage = !r;
	return r;
}

static int end_json(struct json *j, struct reply *out, struct error *err)
{
	json_object_end(j);
	return buf_error(&out->body) ? error_sys(err, buf_error(&out->body), NULL, "cannot reply") : 0;
}

/* Nodes and edges */

static void add_place(struct json *j, const struct layout *l, size_t node)
{
	json_int(j, "x", l->node[node].x);
	json_int(j, "y", l->node[node].y);
	json_int(j, "layer", l->node[node].layer);
}

static void add_points(struct json *j, const struct layout *l, size_t edge)
{
	const struct layout_edge *e = &l->edge[edge];

	json_bool(j, "upwards", e->upwards);
	json_array(j, "points");
	for (uint32_t i = e->first_point; i < e->first_point + e->n_points; i++) {
		json_int(j, NULL, l->point[i].x);
		json_int(j, NULL, l->point[i].y);
	}
	json_array_end(j);
}

static void add_sizes(struct json *j, const struct layout *l)
{
	json_int(j, "width", l->width);
	json_int(j, "height", l->height);
	json_int(j, "node_width", LAYOUT_WIDTH);
	json_int(j, "node_height", LAYOUT_HEIGHT);
}

static void add_task(struct json *j, const struct kept *k, uint32_t task)
{
	const struct recording *rec = k->graph.s->rec;

	task_json_task(j, rec, task, k->running);
	json_int(j, "wall_us", cost_wall_us(rec, &rec->task[task]));
	json_int(j, "colour", k->colour[task]);
	json_bool(j, "path", k->graph.on_path[task]);
}

static int layout_of(struct layout *l, size_t n, size_t n_edges)
{
	*l = (struct layout){ .n = n, .n_edges = n_edges, .node = array_new_zero(n, sizeof *l->node),
			      .edge = array_new_zero(n_edges + 1, sizeof *l->edge) };
	return l->node && l->edge ? 0 : -ENOMEM;
}

static void layout_free(struct layout *l)
{
	graph_layout_release(l);
	free_all(l->node, l->edge);
}

/* /api/v1/graph */

static int place_part(struct layout *l, const struct graph_part *p)
{
	int r = layout_of(l, p->n, p->n_edges);

	for (size_t i = 0; !r && i < p->n; i++)
		l->node[i].above = p->node[i].distance < 0;
	for (size_t i = 0; !r && i < p->n_edges; i++)
		l->edge[i] = (struct layout_edge){ .from = p->edge[i].from, .to = p->edge[i].to };
	return r ? r : graph_layout_make(l);
}

static void add_part(struct json *j, const struct kept *k, const struct graph_part *p,
		     const struct layout *l)
{
	add_sizes(j, l);
	json_int(j, "hidden", (int64_t)p->n_hidden);
	json_array(j, "nodes");
	for (size_t i = 0; i < p->n; i++) {
		const struct graph_node *n = &p->node[i];

		json_object(j, NULL);
		if (n->task != NO_INDEX)
			add_task(j, k, n->task);
		json_known(j, "more", n->task == NO_INDEX ? (int64_t)n->n_more : -1);
		json_int(j, "distance", n->distance);
		add_place(j, l, i);
		json_object_end(j);
	}
	json_array_end(j);
	json_array(j, "edges");
	for (size_t i = 0; i < p->n_edges; i++) {
		const struct graph_edge *e = &p->edge[i];

		json_object(j, NULL);
		json_int(j, "from", e->from);
		json_int(j, "to", e->to);
		json_str(j, "kind", graph_edge_word[e->kind]);
		json_bool(j, "path", e->path);
		add_points(j, l, i);
		json_object_end(j);
	}
	json_array_end(j);
}

/* Without a task: the last one of the path, or the one that started last. */
static int find_task(uint32_t *task, const struct request *q, struct error *err)
{
	const struct source *s = q->source;
	const char *id = query_text(q->query, "task");

	if (id)
		return source_task(q->source, id, task, err);
	if (s->chain.n_path)
		*task = s->chain.path[s->chain.n_path - 1];
	else if (s->summary.n_ran)
		*task = s->summary.order[s->summary.n_ran - 1];
	else
		return error_say(err, -ENOENT, "no task has started");
	return 0;
}

static int reply_around(struct reply *out, const struct request *q, struct kept *k, struct error *err)
{
	struct graph_part p = { .n = 0 };
	struct layout l = { .n = 0 };
	const uint32_t *list;
	int64_t up, down, most;
	uint32_t task;
	struct json j;
	int r = find_task(&task, q, err);

	if (r || (r = query_number(q->query, "up", 0, GRAPH_STEPS_MAX, STEPS, &up, err)) ||
	    (r = query_number(q->query, "down", 0, GRAPH_STEPS_MAX, STEPS, &down, err)) ||
	    (r = query_number(q->query, "count", 1, GRAPH_NODES_MAX, NODES, &most, err)))
		return r;
	r = graph_around(&p, &k->graph, task, (unsigned)up, (unsigned)down, (size_t)most);
	r = r ? r : place_part(&l, &p);
	if (!r) {
		json_init(&j, &out->body, true);
		json_object(&j, NULL);
		task_json_ref(&j, "around", k->graph.s->rec, task);
		json_bool(&j, "is_running", q->source->running);
		json_bool(&j, "known", q->source->chain.waits.has_dependencies);
		json_int(&j, "needs", (int64_t)graph_tasks(&k->graph, task, false, &list));
		json_int(&j, "needed_by", (int64_t)graph_tasks(&k->graph, task, true, &list));
		add_part(&j, k, &p, &l);
		r = end_json(&j, out, err);
	} else {
		error_sys(err, r, NULL, "cannot draw the dependencies");
	}
	graph_part_release(&p);
	layout_free(&l);
	return r;
}

/* Nodes of large cycles are left out, and edges to them. */
static int place_cycle(struct layout *l, const struct cycles *c, const struct cycles_item *item,
		       const struct cycles_edge ***edge)
{
	size_t n = MIN(item->n_nodes, GRAPH_NODES_MAX), n_edges = 0;
	int r = layout_of(l, n, item->n_edges);

	*edge = array_new(item->n_edges + 1, sizeof **edge);
	for (size_t i = 0; !r && *edge && i < item->n_edges; i++) {
		const struct cycles_edge *e = &c->edge[item->first_edge + i];
		uint32_t from = e->from - item->first_node, to = e->to - item->first_node;

		if (from >= n || to >= n)
			continue;
		l->edge[n_edges] = (struct layout_edge){ .from = from, .to = to };
		(*edge)[n_edges++] = e;
	}
	l->n_edges = n_edges;
	return r || !*edge ? -ENOMEM : graph_layout_make(l);
}

static void add_cycle(struct json *j, const struct kept *k, const struct cycles_item *item,
		      const struct layout *l, const struct cycles_edge *const *edge)
{
	static const char *const kind[] = { "recorded", "reported", "assumed" };

	add_sizes(j, l);
	json_int(j, "hidden", (int64_t)(item->n_nodes - l->n));
	json_array(j, "nodes");
	for (size_t i = 0; i < l->n; i++) {
		const struct cycles_node *n = &k->cycles.node[item->first_node + i];

		json_object(j, NULL);
		if (n->task != NO_INDEX)
			add_task(j, k, n->task);
		else
			json_str(j, "name", n->name);
		json_known(j, "more", -1);
		add_place(j, l, i);
		json_object_end(j);
	}
	json_array_end(j);
	json_array(j, "edges");
	for (size_t i = 0; i < l->n_edges; i++) {
		json_object(j, NULL);
		json_int(j, "from", l->edge[i].from);
		json_int(j, "to", l->edge[i].to);
		json_str(j, "kind", kind[edge[i]->kind]);
		json_bool(j, "path", false);
		add_points(j, l, i);
		json_object_end(j);
	}
	json_array_end(j);
}

static int reply_cycle(struct reply *out, const struct request *q, struct kept *k, int64_t number,
		       struct error *err)
{
	const struct cycles_item *item;
	const struct cycles_edge **edge = NULL;
	struct layout l = { .n = 0 };
	struct json j;
	int r;

	if (number < 0 || (uint64_t)number >= k->cycles.n)
		return error_say(err, -ENOENT, "there is no such cycle");
	item = &k->cycles.cycle[number];
	r = place_cycle(&l, &k->cycles, item, &edge);
	if (!r) {
		json_init(&j, &out->body, true);
		json_object(&j, NULL);
		json_int(&j, "cycle", number);
		json_bool(&j, "is_running", q->source->running);
		json_bool(&j, "whole", item->whole);
		add_cycle(&j, k, item, &l, edge);
		r = end_json(&j, out, err);
	} else {
		error_sys(err, r, NULL, "cannot draw the cycle");
	}
	free(edge);
	layout_free(&l);
	return r;
}

static int reply_graph(struct reply *out, const struct request *q, struct error *err)
{
	bool cycle = query_text(q->query, "cycle");
	int64_t number = 0;
	struct kept *k;
	int r = cycle ? need_garbage(&k, q->source, err) : need_graph(&k, q->source, err);

	if (!r && cycle)
		r = query_number(q->query, "cycle", 0, UINT32_MAX, 0, &number, err);
	if (r)
		return r;
	out->keep = !q->source->running;
	return cycle ? reply_cycle(out, q, k, number, err) : reply_around(out, q, k, err);
}

/* /api/v1/garbage */

static void add_cycles(struct json *j, const struct cycles *c, int64_t most)
{
	json_object(j, "cycles");
	json_bool(j, "has_output", c->has_output);
	json_int(j, "n_reported", (int64_t)c->n_reported);
	json_int(j, "n_items", (int64_t)c->n);
	json_array(j, "items");
	for (size_t i = 0; i < c->n && i < (size_t)most; i++) {
		const struct cycles_item *item = &c->cycle[i];

		json_object(j, NULL);
		json_int(j, "cycle", (int64_t)i);
		json_int(j, "n_objects", item->n_nodes);
		json_int(j, "n_edges", item->n_edges);
		json_int(j, "n_tasks", (int64_t)item->n_tasks);
		json_int(j, "wall_us", item->wall_us);
		json_bool(j, "whole", item->whole);
		json_array(j, "names");
		for (uint32_t n = 0; n < item->n_nodes && n < 8; n++)
			json_str(j, NULL, c->node[item->first_node + n].name);
		json_array_end(j);
		json_object_end(j);
	}
	json_array_end(j);
	json_object_end(j);
}

static void add_outlived(struct json *j, const struct recording *rec, const struct process_tree *t,
			 int64_t most)
{
	int64_t n = 0;

	json_object(j, "processes");
	json_int(j, "n_recorded", (int64_t)t->n);
	json_int(j, "n_items", (int64_t)t->n_outlived);
	json_array(j, "items");
	for (size_t i = 0; i < t->n && n < most; i++) {
		const struct tree_process *p = &t->process[i];

		if (!p->outlived_us)
			continue;
		n++;
		json_object(j, NULL);
		json_int(j, "pid", p->pid);
		json_str(j, "command", p->command);
		json_int(j, "outlived_us", p->outlived_us);
		json_bool(j, "running", p->runs);
		json_known(j, "max_rss_kb", p->max_rss_kb);
		task_json_ref(j, "of", rec, p->task);
		json_object_end(j);
	}
	json_array_end(j);
	json_object_end(j);
}

/* Until the build has ended, the task that waits for an output may not have begun. */
static void add_unread(struct json *j, const struct graph *g, const struct unread *u, int64_t most,
		       bool running)
{
	size_t n = running ? 0 : u->n;

	json_object(j, "outputs");
	json_bool(j, "known", u->known && !running);
	json_int(j, "n_items", (int64_t)n);
	json_int(j, "wall_us", running ? 0 : u->wall_us);
	json_array(j, "items");
	for (size_t i = 0; i < n && i < (size_t)most; i++) {
		const struct unread_item *item = &u->item[i];

		json_object(j, NULL);
		task_json_names(j, g->s->rec, g->s->target[item->target].first_task);
		json_int(j, "n_tasks", g->s->target[item->target].n_tasks);
		json_int(j, "wall_us", item->wall_us);
		json_bool(j, "goal", item->goal);
		json_object_end(j);
	}
	json_array_end(j);
	json_object_end(j);
}

static int reply_garbage(struct reply *out, const struct request *q, struct error *err)
{
	const struct process_tree *t = NULL;
	int64_t most = ROWS;
	struct kept *k;
	struct json j;
	int r = need_garbage(&k, q->source, err);

	if (r || (r = api_recorded_tree(q->source, &t, err)) ||
	    (r = query_number(q->query, "count", 0, ROWS_MAX, ROWS, &most, err)))
		return r;
	json_init(&j, &out->body, true);
	json_object(&j, NULL);
	json_bool(&j, "is_running", q->source->running);
	add_cycles(&j, &k->cycles, most);
	add_outlived(&j, &q->source->recording, t, most);
	add_unread(&j, &k->graph, &k->unread, most, q->source->running);
	out->keep = !q->source->running;
	return end_json(&j, out, err);
}

const struct route api_graph_routes[] = {
	{ "/api/v1/graph", "rec, task, up, down, count, cycle",
	  "The dependencies around a task, or of a cycle, with a layout.", reply_graph },
	{ "/api/v1/garbage", "rec, count",
	  "Cycles of dependencies, processes that outlive their task, outputs that nobody waits for.",
	  reply_garbage },
	{ 0 }
};
