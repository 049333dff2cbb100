/* SPDX-License-Identifier: MIT */
#include "trace/flows.h"

#include "base/array.h"
#include "trace/tracks.h"

#include <errno.h>
#include <string.h>

struct edge {
	uint32_t from, to;
	enum sink_flow_kind kind;
};

struct work {
	const struct summary *s;
	const struct chain *c;
	uint32_t *order;	/* place of each task in s->order */
	uint32_t *seen;		/* of each task: the last one with an edge from it */
	size_t n;
	struct edge *edge;
};

/* Instances come before all tasks. */
static bool is_before(const struct work *w, uint32_t from, uint32_t to)
{
	const struct recording *rec = w->s->rec;
	int64_t begin_us = rec->task[from].start_us, end_us;

	if (to >= rec->n_tasks)
		return begin_us < tracks_instance_begin_us(rec, to - (uint32_t)rec->n_tasks);
	end_us = rec->task[to].start_us;
	return begin_us < end_us || (begin_us == end_us && w->order[from] < w->order[to]);
}

static int add(struct work *w, uint32_t from, uint32_t to, enum sink_flow_kind kind)
{
	struct edge *e;

	if (from == to || w->s->rec->task[from].start_us < 0 || !is_before(w, from, to))
		return 0;
	e = array_add(&w->edge, &w->n, sizeof *e);
	if (e)
		*e = (struct edge){ from, to, kind };
	return e ? 0 : -ENOMEM;
}

/* One edge for several names of one maker: a file only if none of them is its target. */
static int add_makers(struct work *w, uint32_t at)
{
	const struct task *t = &w->s->rec->task[at];
	size_t first = w->n;
	int r = 0;

	for (size_t k = t->first_after; k < (size_t)t->first_after + t->n_after && !r; k++) {
		enum sink_flow_kind kind = w->c->waits.needs.other_file[k] ? SINK_FILE : SINK_DEPENDENCY;
		uint32_t maker = w->c->waits.needs.maker[k];

		if (maker == NO_INDEX)
			continue;
		if (w->seen[maker] != at)
			r = add(w, maker, at, kind);
		for (size_t e = first; w->seen[maker] == at && kind != SINK_FILE && e < w->n; e++) {
			if (w->edge[e].from == maker)
				w->edge[e].kind = kind;
		}
		w->seen[maker] = at;
	}
	return r;
}

static int find_edges(struct work *w)
{
	const struct recording *rec = w->s->rec;
	int r = 0;

	for (size_t i = 0; i < w->s->n_ran; i++)
		w->order[w->s->order[i]] = (uint32_t)i;
	for (uint32_t i = 0; i < rec->n_instances && !r; i++) {
		if (rec->instance[i].parent_task != NO_INDEX && !rec->instance[i].only_spans)
			r = add(w, rec->instance[i].parent_task, (uint32_t)rec->n_tasks + i,
				SINK_CHILD);
	}
	for (size_t i = 0; i < w->s->n_ran && !r; i++)
		r = add_makers(w, w->s->order[i]);
	return r;
}

/* At first, place n + 1 has the number of those at n; then their end; then their begin. */
static void count(const struct work *w, uint32_t *first, size_t n, bool at_end)
{
	for (size_t i = 0; i < w->n; i++)
		first[at_end ? w->edge[i].to : w->edge[i].from]++;
	for (size_t i = 1; i <= n; i++)
		first[i] += first[i - 1];
}

static int64_t begin_us(const struct recording *rec, uint32_t at)
{
	return at < rec->n_tasks ? rec->task[at].start_us :
	       tracks_instance_begin_us(rec, at - (uint32_t)rec->n_tasks);
}

static int sort_edges(struct flows *f, const struct work *w, uint64_t first_id)
{
	const struct recording *rec = w->s->rec;
	size_t n = rec->n_tasks + rec->n_instances;

	f->n = w->n;
	f->first_from = array_new_zero(n + 1, sizeof *f->first_from);
	f->first_to = array_new_zero(n + 1, sizeof *f->first_to);
	f->from = array_new(w->n + 1, sizeof *f->from);
	f->to = array_new(w->n + 1, sizeof *f->to);
	if (!f->first_from || !f->first_to || !f->from || !f->to)
		return -ENOMEM;
	count(w, f->first_from, n, false);
	count(w, f->first_to, n, true);
	for (size_t i = w->n; i--;) {
		const struct edge *e = &w->edge[i];
		int64_t end_us = begin_us(rec, e->to);
		bool at_once = end_us == begin_us(rec, e->from);

		f->from[--f->first_from[e->from]] = (struct sink_flow){ first_id + i,
			at_once ? end_us : end_us - 1, e->kind };
		f->to[--f->first_to[e->to]] = (struct sink_flow){ first_id + i, end_us, e->kind };
	}
	return 0;
}

int flows_make(struct flows *f, const struct summary *s, const struct chain *c, uint64_t first_id)
{
	struct work w = { .s = s, .c = c };
	size_t n = s->rec->n_tasks;
	int r = -ENOMEM;

	*f = (struct flows){ 0 };
	w.order = array_new(n + 1, sizeof *w.order);
	w.seen = array_new(n + 1, sizeof *w.seen);
	if (w.order && w.seen) {
		memset(w.seen, 0xff, n * sizeof *w.seen);
		r = find_edges(&w);
	}
	if (!r)
		r = sort_edges(f, &w, first_id);
	free_all(w.order, w.seen, w.edge);
	return r;
}

void flows_release(struct flows *f)
{
	free_all(f->first_from, f->first_to, f->from, f->to);
	*f = (struct flows){ 0 };
}
