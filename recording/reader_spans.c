/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/sort.h"
#include "recording/event.h"
#include "recording/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *const recording_span_faults[SPAN_FAULTS] = {
	[SPAN_TWICE] = "ended_twice", [SPAN_NO_BEGIN] = "ended_without_begin",
	[SPAN_OTHER_THREAD] = "ended_by_other_thread", [SPAN_OUTLIVED] = "outlived",
	[SPAN_UNENDED] = "never_ended", [SPAN_OUTSIDE] = "begun_outside",
};

uint64_t recording_trace_errors(const struct recording *rec)
{
	uint64_t sum = 0;

	for (int i = 0; i < SPAN_FAULTS; i++)
		sum += rec->span_faults[i];
	return sum;
}

/* Spans: their ends, their parents, and what was wrong with them. */

/* Of tasks and of instances in one number. */
static uint64_t key_of(uint32_t instance, uint32_t task)
{
	return (uint64_t)instance << 32 | task;
}

static void count_fault(struct recording *rec, struct span *s, enum span_fault fault)
{
	rec->span_faults[fault]++;
	if (s)
		s->faults |= 1u << fault;
}

int reader_add_span(void *reader, const struct span *s, int64_t parent)
{
	struct reader *r = reader;
	struct recording *rec = r->rec;
	int64_t *parents = array_grow(r->span_parent, rec->n_spans, sizeof *parents);
	struct span *grown;

	if (!parents)
		return -ENOMEM;
	r->span_parent = parents;
	grown = array_grow(rec->span, rec->n_spans, sizeof *grown);
	if (!grown)
		return -ENOMEM;
	rec->span = grown;
	grown[rec->n_spans] = *s;
	parents[rec->n_spans] = parent;
	return index_put(&r->spans, key_of(s->instance, s->task), s->number,
			 (uint32_t)rec->n_spans++);
}

static bool find_span(const struct reader *r, uint32_t instance, uint32_t task, int64_t number,
		      uint32_t *at)
{
	return number >= 0 && index_find(&r->spans, key_of(instance, task), (uint64_t)number, at);
}

static void end_span(struct recording *rec, struct span *s, const struct span_end *e)
{
	if (s->end_us >= 0) {
		count_fault(rec, s, SPAN_TWICE);
		return;
	}
	s->end_us = e->time_us;
	if (e->thread >= 0 && e->thread != s->thread)
		count_fault(rec, s, SPAN_OTHER_THREAD);
}

/* An end whose begin was not read yet may be in another file. A number may be used again. */
int reader_end_span(void *reader, const struct span_end *e)
{
	struct reader *r = reader;
	struct span_end *added;
	uint32_t at;

	if (find_span(r, e->instance, e->task, e->number, &at) &&
	    e->time_us >= r->rec->span[at].begin_us) {
		end_span(r->rec, &r->rec->span[at], e);
		return 0;
	}
	added = array_add(&r->span_end, &r->n_span_ends, sizeof *added);
	if (!added)
		return -ENOMEM;
	*added = *e;
	return 0;
}

static void end_late(struct reader *r)
{
	uint32_t at;

	for (size_t i = 0; i < r->n_span_ends; i++) {
		const struct span_end *e = &r->span_end[i];

		if (e->name)
			continue;
		if (find_span(r, e->instance, e->task, e->number, &at) &&
		    e->time_us >= r->rec->span[at].begin_us)
			end_span(r->rec, &r->rec->span[at], e);
		else
			count_fault(r->rec, NULL, SPAN_NO_BEGIN);
	}
}

uint32_t recording_span_instance(const struct recording *rec, const struct span *s)
{
	const struct instance *i = &rec->instance[s->instance];

	if (s->task != NO_INDEX)
		return rec->task[s->task].instance;
	if (!i->only_spans)
		return s->instance;
	return i->parent_task == NO_INDEX ? NO_INDEX : rec->task[i->parent_task].instance;
}

/* Trees */

#define DEPTH_MAX 1000

struct spans {
	struct reader *r;
	struct recording *rec;
	struct keyed *order;	/* by begin */
	uint32_t *rank;		/* of each span in it */
};

/* Was its parent written, or found from its processes? */
static bool is_exact(const struct spans *w, uint32_t at)
{
	return w->r->span_parent[at] >= 0 || w->rec->instance[w->rec->span[at].instance].only_spans;
}

static int sort_spans(struct spans *w)
{
	size_t n = w->rec->n_spans;

	w->order = array_new(n, sizeof *w->order);
	w->rank = array_new(n, sizeof *w->rank);
	if (!w->order || !w->rank)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		w->order[i] = (struct keyed){ (uint64_t)w->rec->span[i].begin_us, (int64_t)i };
	if (sort_keyed(w->order, n))
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		w->rank[w->order[i].value] = (uint32_t)i;
	return 0;
}

/* When its task, or the build, was over at the latest; -1: it may still run. */
static int64_t owner_end_us(const struct recording *rec, const struct span *s)
{
	const struct task *t = s->task == NO_INDEX ? NULL : &rec->task[s->task];
	uint32_t instance = recording_span_instance(rec, s);
	int64_t close_us = instance == NO_INDEX ? -1 : rec->instance[instance].close_us;

	if (t && t->end_us >= 0)
		return t->end_us;
	if (t && t->start_us >= 0 && (close_us >= 0 || rec->end_us >= 0))
		return recording_unseen_end_us(rec, t);
	return close_us < 0 && rec->end_us >= 0 ? rec->last_us : close_us;
}

static bool is_outside(const struct spans *w, uint32_t at)
{
	const struct span *s = &w->rec->span[at];
	const struct task *t = s->task == NO_INDEX ? NULL : &w->rec->task[s->task];

	return t && t->start_us >= 0 && is_exact(w, at) &&
	       (s->begin_us < t->start_us || (t->end_us >= 0 && s->begin_us > t->end_us));
}

static void find_parent(const struct spans *w, uint32_t at)
{
	struct span *s = &w->rec->span[at];
	int64_t number = w->r->span_parent[at];
	uint32_t found;

	if (number > 0 && (s->task != NO_INDEX) == (s->seq > 0) &&
	    find_span(w->r, s->instance, s->task, number, &found))
		s->parent = found;
}

/* A parent began first, has the same task, and has not ended. */
static void check_parent(const struct spans *w, uint32_t at)
{
	struct span *s = &w->rec->span[at];
	bool ended = false;

	for (int n = 0; s->parent != NO_INDEX; n++) {
		const struct span *p = &w->rec->span[s->parent];
		bool over = p->end_us >= 0 && p->end_us < s->begin_us;

		if (w->rank[s->parent] >= w->rank[at] || n == DEPTH_MAX) {
			s->parent = NO_INDEX;
			break;
		}
		if (!over && p->task == s->task)
			break;
		ended |= over;
		s->parent = p->parent;
	}
	if (ended)
		count_fault(w->rec, s, SPAN_OUTSIDE);
}

/* After its parent, which has its end by now. */
static void check_end(const struct spans *w, uint32_t at)
{
	struct recording *rec = w->rec;
	struct span *s = &rec->span[at];
	int64_t limit_us = s->parent == NO_INDEX ? -1 : rec->span[s->parent].end_us;

	if (limit_us < 0 && (s->task != NO_INDEX || s->end_us < 0))
		limit_us = owner_end_us(rec, s);
	if (limit_us < 0)
		return;
	if (limit_us < s->begin_us)
		limit_us = s->begin_us;
	if (s->end_us < 0)
		count_fault(rec, s, SPAN_UNENDED);
	else if (s->end_us > limit_us && is_exact(w, at))
		count_fault(rec, s, SPAN_OUTLIVED);
	else
		return;
	s->end_us = limit_us;
}

static void repair(const struct spans *w)
{
	struct recording *rec = w->rec;

	for (size_t i = 0; i < rec->n_spans; i++) {
		uint32_t at = (uint32_t)w->order[i].value;
		struct span *s = &rec->span[at];

		find_parent(w, at);
		if (is_outside(w, at)) {
			count_fault(rec, s, SPAN_OUTSIDE);
			s->task = s->parent = NO_INDEX;
		}
		check_parent(w, at);
		check_end(w, at);
	}
}

/* Spans whose parents were not written nest by time, if they are of one thread. */

static int64_t end_or_never(const struct span *s)
{
	return s->end_us < 0 ? INT64_MAX : s->end_us;
}

static int by_end(const void *a, const void *b, void *rec)
{
	const struct span *span = ((const struct recording *)rec)->span;
	const struct keyed *x = a, *y = b;
	int order = array_order(end_or_never(&span[y->value]), end_or_never(&span[x->value]));

	return order ? order : array_order(x->value, y->value);
}

/* Of spans that begin at the same time, the longest is the outermost. */
static void longest_first(const struct spans *w)
{
	size_t n = w->rec->n_spans;

	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && w->order[end].key == w->order[i].key; end++)
			continue;
		if (end > i + 1)
			qsort_r(w->order + i, end - i, sizeof *w->order, by_end, w->rec);
	}
}

static int nest_by_time(const struct spans *w)
{
	struct recording *rec = w->rec;
	struct index newest = INDEX_INIT;
	int error = 0;

	longest_first(w);
	for (size_t i = 0; i < rec->n_spans && !error; i++) {
		uint32_t at = (uint32_t)w->order[i].value, around = NO_INDEX;
		struct span *s = &rec->span[at];
		uint64_t owner = key_of(s->instance, s->task), thread = (uint32_t)s->thread;

		if (is_exact(w, at))
			continue;
		if (!index_find(&newest, owner, thread, &around))
			around = NO_INDEX;
		while (around != NO_INDEX && end_or_never(&rec->span[around]) < end_or_never(s))
			around = rec->span[around].parent;
		s->parent = around;
		error = index_put(&newest, owner, thread, at);
	}
	index_release(&newest);
	return error;
}

/* Tasks inside spans of their instance */

static bool holds(const struct recording *rec, const struct span *s, uint32_t instance)
{
	return s->task == NO_INDEX && recording_span_instance(rec, s) == instance;
}

/* The last span of the instance that began before the time and was not over: from the newest
 * one to those around it. */
static uint32_t span_at(const struct recording *rec, uint32_t newest, int64_t time_us)
{
	while (newest != NO_INDEX && end_or_never(&rec->span[newest]) < time_us)
		newest = rec->span[newest].parent;
	return newest;
}

static int by_start(const struct recording *rec, struct keyed **order)
{
	*order = array_new(rec->n_tasks, sizeof **order);
	if (!*order)
		return -ENOMEM;
	for (size_t i = 0; i < rec->n_tasks; i++)
		(*order)[i] = (struct keyed){ (uint64_t)rec->task[i].start_us, (int64_t)i };
	return sort_keyed(*order, rec->n_tasks);
}

/* Both in the order of time, with the newest span of each instance. */
static int place_tasks(const struct spans *w)
{
	struct recording *rec = w->rec;
	uint32_t *newest = array_new(rec->n_instances, sizeof *newest);
	struct keyed *order = NULL;
	int error = newest ? by_start(rec, &order) : -ENOMEM;
	size_t k = 0;

	rec->task_span = array_new(rec->n_tasks, sizeof *rec->task_span);
	if (!rec->task_span || error) {
		free_all(order, newest);
		return -ENOMEM;
	}
	memset(newest, 0xff, rec->n_instances * sizeof *newest);
	for (size_t i = 0; i < rec->n_tasks; i++) {
		const struct task *t = &rec->task[order[i].value];

		/* tasks that never started are last: -1 is the largest key */
		for (; k < rec->n_spans && w->order[k].key <= order[i].key; k++) {
			const struct span *s = &rec->span[w->order[k].value];
			uint32_t instance = recording_span_instance(rec, s);

			if (instance != NO_INDEX && holds(rec, s, instance))
				newest[instance] = (uint32_t)w->order[k].value;
		}
		if (t->start_us >= 0)
			newest[t->instance] = span_at(rec, newest[t->instance], t->start_us);
		rec->task_span[order[i].value] = t->start_us < 0 ? NO_INDEX : newest[t->instance];
	}
	free_all(order, newest);
	return 0;
}

static bool any_without_task(const struct recording *rec)
{
	for (size_t i = 0; i < rec->n_spans; i++) {
		if (rec->span[i].task == NO_INDEX)
			return true;
	}
	return false;
}

int reader_finish_spans(struct reader *r)
{
	struct spans w = { .r = r, .rec = r->rec };
	int error = reader_link_spans(r);

	end_late(r);
	if (error || !r->rec->n_spans)
		return error;
	error = sort_spans(&w);
	if (!error) {
		repair(&w);
		error = nest_by_time(&w);
	}
	if (!error && any_without_task(r->rec))
		error = place_tasks(&w);
	free_all(w.order, w.rank);
	return error;
}
