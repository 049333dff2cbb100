/* SPDX-License-Identifier: MIT */
#include "trace/tracks.h"

#include "base/array.h"
#include "base/minmax.h"
#include "trace/sink.h"
#include "trace/trace_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The rows of a thread. The first one has index `thread` of work.row, as long as threads are
 * counted. */
struct row {
	uint32_t tid;
	uint32_t next;		/* the next row of its thread, TRACKS_NONE: it is the last */
	uint32_t open;		/* the innermost span so far, TRACKS_NONE: none */
	int64_t newest_us;	/* no span may begin before it */
};

/* An instance while its threads are counted. */
struct lanes {
	size_t n;
	int64_t *free_us;
	uint32_t first_row;	/* that of the instance; those of its workers follow */
	uint32_t n_tids;
};

struct work {
	const struct summary *s;
	struct tracks *p;
	struct lanes *lanes;	/* of each instance; then of processes that only wrote spans */
	size_t n_rows;
	struct row *row;
};

int64_t tracks_instance_begin_us(const struct recording *rec, uint32_t instance)
{
	int64_t us = rec->instance[instance].open_us;

	return MAX(us, 0);
}

int64_t tracks_instance_end_us(const struct recording *rec, uint32_t instance)
{
	int64_t begin_us = tracks_instance_begin_us(rec, instance);
	int64_t end_us = rec->instance[instance].close_us;

	end_us = end_us >= 0 ? end_us : rec->last_us;
	return MAX(end_us, begin_us);
}

/* Workers */

static int add_lane(struct lanes *l)
{
	int64_t *added = array_add(&l->free_us, &l->n, sizeof *added);

	if (!added)
		return -ENOMEM;
	*added = INT64_MIN;
	return 0;
}

/* The task's worker if it is free, otherwise the lowest free one. */
static int take_lane(struct lanes *l, const struct task *t, int64_t end_us, uint32_t *tid)
{
	size_t at = 0;

	if (t->slot >= 0 && (size_t)t->slot < l->n && l->free_us[t->slot] <= t->start_us)
		at = (size_t)t->slot;
	else
		while (at < l->n && l->free_us[at] > t->start_us)
			at++;
	if (at == l->n && add_lane(l))
		return -ENOMEM;
	l->free_us[at] = end_us;
	*tid = (uint32_t)at + 1;
	return 0;
}

/* Each recorded worker has a thread, unless its number is very large. */
static int begin_lanes(struct work *w)
{
	const struct recording *rec = w->s->rec;

	for (size_t i = 0; i < rec->n_tasks; i++) {
		const struct task *t = &rec->task[i];
		struct lanes *l = &w->lanes[t->instance];

		while (t->slot >= 0 && t->slot < PARTS_WORKERS_MAX && l->n <= (size_t)t->slot) {
			if (add_lane(l))
				return -ENOMEM;
		}
	}
	return 0;
}

static int place_tasks(struct work *w)
{
	const struct recording *rec = w->s->rec;
	int r = begin_lanes(w);

	for (size_t i = 0; i < w->s->n_ran && !r; i++) {
		uint32_t at = w->s->order[i];
		const struct task *t = &rec->task[at];

		r = take_lane(&w->lanes[t->instance], t, recording_task_end_us(rec, t),
			      &w->p->tid[at]);
	}
	return r;
}

/* Tracks */

static int add_row(struct work *w, uint32_t pid, uint32_t tid, uint32_t worker, uint32_t number)
{
	struct tracks_row *track = array_add(&w->p->track, &w->p->n_tracks, sizeof *track);
	struct row *row = track ? array_add(&w->row, &w->n_rows, sizeof *row) : NULL;

	if (!row)
		return -ENOMEM;
	*track = (struct tracks_row){ pid, tid, worker, number };
	*row = (struct row){ tid, TRACKS_NONE, TRACKS_NONE, INT64_MIN };
	return 0;
}

static int add_threads(struct work *w)
{
	const struct recording *rec = w->s->rec;
	int r = 0;

	for (uint32_t i = 0; i < rec->n_instances && !r; i++) {
		struct lanes *l = &w->lanes[i];

		l->first_row = (uint32_t)w->n_rows;
		for (; l->n_tids <= l->n && !rec->instance[i].only_spans && !r; l->n_tids++)
			r = add_row(w, i + 1, l->n_tids, l->n_tids, 1);
	}
	return r;
}

/* Spans */

static int by_place(const void *a, const void *b)
{
	const struct tracks_span *x = a, *y = b;
	int order = array_order(x->task + 1, y->task + 1);	/* NO_INDEX comes first */

	order = order ? order : array_order(x->begin_us, y->begin_us);
	order = order ? order : array_order(y->end_us, x->end_us);
	return order ? order : array_order(x->span, y->span);
}

/* A span without an end ends with its task. */
static void sort_spans(struct work *w)
{
	const struct recording *rec = w->s->rec;
	struct tracks *p = w->p;
	size_t at = 0;

	for (uint32_t i = 0; i < rec->n_spans; i++) {
		const struct span *s = &rec->span[i];
		const struct task *t = s->task < rec->n_tasks ? &rec->task[s->task] : NULL;
		int64_t end_us = s->end_us;

		if (s->begin_us < 0 || (t && p->tid[s->task] == TRACKS_NONE))
			continue;
		if (end_us < 0)
			end_us = t ? recording_task_end_us(rec, t) : rec->last_us;
		p->span[p->n_spans++] = (struct tracks_span){ .span = i,
			.task = t ? s->task : NO_INDEX, .begin_us = s->begin_us,
			.end_us = end_us > s->begin_us ? end_us : s->begin_us };
	}
	if (p->n_spans)
		qsort(p->span, p->n_spans, sizeof *p->span, by_place);
	while (at < p->n_spans && p->span[at].task == NO_INDEX)
		at++;
	for (size_t task = 0; task <= rec->n_tasks; task++) {
		p->first[task] = (uint32_t)at;
		while (at < p->n_spans && p->span[at].task == task)
			at++;
	}
}

/* Is there room for a span in a row: inside the innermost one that has not ended or, outside of
 * all, between these times? */
static bool fits_row(struct work *w, struct row *row, const struct tracks_span *p, int64_t from_us,
		     int64_t until_us)
{
	const struct tracks_span *list = w->p->span;

	while (row->open != TRACKS_NONE && p->begin_us >= list[row->open].end_us &&
	       (p->begin_us > list[row->open].end_us || p->end_us > p->begin_us)) {
		row->open = list[row->open].outer;
		if (row->newest_us < p->begin_us)
			row->newest_us = p->begin_us;
	}
	if (row->open != TRACKS_NONE)
		until_us = list[row->open].end_us;
	return p->begin_us >= from_us && p->begin_us >= row->newest_us && p->end_us <= until_us;
}

/* first: the first row of its thread, which is around the span from from_us until until_us. */
static int place_span(struct work *w, uint32_t at, uint32_t first, uint32_t *n_tids,
		      int64_t from_us, int64_t until_us)
{
	struct tracks_span *p = &w->p->span[at];
	uint32_t number = 1;
	uint32_t to = first;

	while (!fits_row(w, &w->row[to], p, to == first ? from_us : INT64_MIN,
			 to == first ? until_us : INT64_MAX)) {
		number++;
		if (w->row[to].next == TRACKS_NONE) {
			w->row[to].next = (uint32_t)w->n_rows;
			if (add_row(w, p->pid, (*n_tids)++, w->p->track[first].worker, number))
				return -ENOMEM;
		}
		to = w->row[to].next;
	}
	p->outer = w->row[to].open;
	p->tid = w->row[to].tid;
	w->row[to].open = at;
	w->row[to].newest_us = p->begin_us;
	return 0;
}

/* Those of processes that only wrote spans are on a thread of the machine's process. */
static int place_beside_instances(struct work *w, uint32_t at)
{
	struct lanes *l = &w->lanes[w->s->rec->n_instances];

	if (!l->n_tids) {
		l->first_row = (uint32_t)w->n_rows;
		l->n_tids = SINK_SPANS_TID + 1;
		if (add_row(w, SINK_MACHINE, SINK_SPANS_TID, SINK_SPANS_TID, 1))
			return -ENOMEM;
	}
	w->p->span[at].pid = SINK_MACHINE;
	return place_span(w, at, l->first_row, &l->n_tids, INT64_MIN, INT64_MAX);
}

static int place_of_instance(struct work *w, uint32_t at)
{
	const struct recording *rec = w->s->rec;
	struct tracks_span *p = &w->p->span[at];
	uint32_t instance = rec->span[p->span].instance;

	if (rec->instance[instance].only_spans)
		return place_beside_instances(w, at);
	p->pid = instance + 1;
	return place_span(w, at, w->lanes[instance].first_row, &w->lanes[instance].n_tids,
			  tracks_instance_begin_us(rec, instance),
			  tracks_instance_end_us(rec, instance));
}

static int place_of_task(struct work *w, uint32_t task)
{
	const struct recording *rec = w->s->rec;
	const struct task *t = &rec->task[task];
	struct lanes *l = &w->lanes[t->instance];
	uint32_t first = l->first_row + w->p->tid[task];
	int r = 0;

	if (w->p->first[task] == w->p->first[task + 1])
		return 0;
	w->row[first].open = TRACKS_NONE;
	w->row[first].newest_us = INT64_MIN;
	for (uint32_t i = w->p->first[task]; i < w->p->first[task + 1] && !r; i++) {
		w->p->span[i].pid = t->instance + 1;
		r = place_span(w, i, first, &l->n_tids, t->start_us,
			       recording_task_end_us(rec, t));
	}
	return r;
}

static int place_spans(struct work *w)
{
	int r = 0;

	sort_spans(w);
	for (uint32_t i = 0; i < w->p->first[0] && !r; i++)
		r = place_of_instance(w, i);
	for (size_t i = 0; i < w->s->n_ran && !r; i++)
		r = place_of_task(w, w->s->order[i]);
	return r;
}

static int allocate_tracks(struct work *w)
{
	const struct recording *rec = w->s->rec;
	struct tracks *p = w->p;

	w->lanes = array_new_zero(rec->n_instances + 1, sizeof *w->lanes);
	p->tid = array_new(rec->n_tasks + 1, sizeof *p->tid);
	p->span = array_new(rec->n_spans + 1, sizeof *p->span);
	p->first = array_new(rec->n_tasks + 1, sizeof *p->first);
	if (!w->lanes || !p->tid || !p->span || !p->first)
		return -ENOMEM;
	memset(p->tid, 0xff, rec->n_tasks * sizeof *p->tid);
	return 0;
}

int tracks_make(struct tracks *p, const struct summary *s)
{
	struct work w = { .s = s, .p = p };
	int r;

	*p = (struct tracks){ 0 };
	r = allocate_tracks(&w);
	if (!r)
		r = place_tasks(&w);
	if (!r)
		r = add_threads(&w);
	if (!r)
		r = place_spans(&w);
	for (size_t i = 0; w.lanes && i < s->rec->n_instances; i++)
		free(w.lanes[i].free_us);
	free_all(w.lanes, w.row);
	return r;
}

void tracks_release(struct tracks *p)
{
	free_all(p->tid, p->track, p->span, p->first);
	*p = (struct tracks){ 0 };
}
