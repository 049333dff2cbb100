/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/sort.h"
#include "recording/event.h"
#include "recording/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * The spans of scripts. Each process of the command `span` is an instance with the ancestors of
 * its process. They are read in the order of time:
 *
 * - A span around a command encloses what is begun by processes below its own.
 * - A span that was begun and is ended by other processes belongs to the process that started
 * these, its scope: a shell. It encloses what processes below that one begin meanwhile.
 */

#define WALK_MAX 64		/* spans of one scope that are compared with a name */

#define LEVELS_MAX 64		/* of tasks in instances in tasks */

enum { SCOPE, OWNER, AROUND };	/* keys of scripts.newest */

struct begun {
	uint32_t span;
	uint32_t below[2];	/* the one before it in its scope, and in its task or instance */
};

struct scripts {
	struct reader *r;
	struct recording *rec;
	uint32_t *span;		/* of each instance that only writes spans: its first one */
	struct begun *begun;
	uint32_t n_begun;
	struct index newest;	/* of a process or task: of begun, or a span around a command */
};

/* Which instances only write spans */

void reader_mark_scripts(struct reader *r)
{
	struct recording *rec = r->rec;
	bool any = false;

	for (size_t i = 0; i < rec->n_instances; i++)
		any |= rec->instance[i].only_spans = follow_is_script(rec->instance[i].tool);
	for (size_t i = 0; any && i < rec->n_tasks; i++)
		rec->instance[rec->task[i].instance].only_spans = false;
}

/* The processes of an instance, from its own, up to that of its task */

struct ancestors {
	struct cursor c;
	int32_t last;		/* the process of the task; -1: unknown */
	bool ended;
};

static struct ancestors ancestors_of(const struct recording *rec, const struct instance *i)
{
	struct ancestors a = {
		.last = i->parent_task == NO_INDEX ? -1 : rec->task[i->parent_task].pid,
	};

	cursor_init(&a.c, i->ancestors, strlen(i->ancestors));
	return a;
}

static bool next_ancestor(struct ancestors *a, int32_t *pid)
{
	if (a->ended || !follow_next_pid(&a->c, pid))
		return false;
	a->ended = *pid == a->last;
	return true;
}

/* make executes a simple command itself: then the task has no other process, and what is begun
 * belongs to the make. */
static bool is_task_itself(const struct recording *rec, const struct instance *i)
{
	struct ancestors a = ancestors_of(rec, i);
	int32_t pid;

	return next_ancestor(&a, &pid) && pid == a.last;
}

static uint32_t newest(const struct scripts *w, int64_t key, int kind)
{
	uint32_t at;

	return key >= 0 && index_find(&w->newest, (uint64_t)key, (uint64_t)kind, &at) ? at : NO_INDEX;
}

static bool is_open(const struct span *s, int64_t time_us)
{
	return s->begin_us <= time_us && (s->end_us < 0 || s->end_us > time_us);
}

/* The newest open span of a scope; name: "" for any. */
static uint32_t open_in(const struct scripts *w, int64_t key, int kind, const char *name,
			int64_t time_us)
{
	uint32_t at = newest(w, key, kind);

	for (int n = 0; at != NO_INDEX && n < WALK_MAX; n++) {
		const struct span *s = &w->rec->span[w->begun[at].span];

		if (is_open(s, time_us) && (!*name || !strcmp(name, s->name)))
			return w->begun[at].span;
		at = w->begun[at].below[kind];
	}
	return NO_INDEX;
}

/* The innermost span in which the processes of an instance run. */
static uint32_t span_around(const struct scripts *w, const struct instance *i, uint32_t own)
{
	struct ancestors a = ancestors_of(w->rec, i);
	uint32_t found = NO_INDEX;
	int32_t pid;

	while (found == NO_INDEX && next_ancestor(&a, &pid)) {
		found = open_in(w, pid, SCOPE, "", i->open_us);
		if (found == NO_INDEX)
			found = newest(w, pid, AROUND);
		if (found != NO_INDEX && (found == own || !is_open(&w->rec->span[found], i->open_us)))
			found = NO_INDEX;
	}
	return found;
}

/* The scope of a process is the one that started it. */
static int64_t scope_of(const struct instance *i)
{
	struct cursor c;
	int32_t own, parent;

	cursor_init(&c, i->ancestors, strlen(i->ancestors));
	return follow_next_pid(&c, &own) && follow_next_pid(&c, &parent) ? parent : -1;
}

/* The key of a task or an instance: that of one is no other's. */
static int64_t owner_key(uint32_t task, uint32_t instance)
{
	return task != NO_INDEX ? (int64_t)task : INT64_C(1) << 32 | instance;
}

static int begin_in_scope(struct scripts *w, const struct instance *i, uint32_t span)
{
	const struct span *s = &w->rec->span[span];
	struct begun *b = &w->begun[w->n_begun];
	int64_t scope = scope_of(i), owner = owner_key(s->task, recording_span_instance(w->rec, s));

	b->span = span;
	b->below[SCOPE] = newest(w, scope, SCOPE);
	b->below[OWNER] = newest(w, owner, OWNER);
	if ((scope >= 0 && index_put(&w->newest, (uint64_t)scope, SCOPE, w->n_begun)) ||
	    index_put(&w->newest, (uint64_t)owner, OWNER, w->n_begun))
		return -ENOMEM;
	w->n_begun++;
	return 0;
}

static int open_instance(struct scripts *w, uint32_t at)
{
	struct recording *rec = w->rec;
	struct instance *i = &rec->instance[at];
	uint32_t own = i->only_spans ? w->span[at] : NO_INDEX;
	uint32_t around = span_around(w, i, own);
	struct span *s;

	if (around != NO_INDEX && i->parent_task == NO_INDEX)
		follow_set_parent(rec, at, rec->instance[rec->span[around].instance].parent_task);
	if (!i->only_spans) {
		i->parent_span = around;
		return 0;
	}
	if (own == NO_INDEX)
		return 0;
	s = &rec->span[own];
	if (strcmp(i->tool, EVENT_SPAN_BEGIN_TOOL)) {
		s->task = i->parent_task;
		s->parent = around;
		return i->pid < 0 ? 0 : index_put(&w->newest, (uint64_t)i->pid, AROUND, own);
	}
	s->task = is_task_itself(rec, i) ? NO_INDEX : i->parent_task;
	s->parent = around;
	return begin_in_scope(w, i, own);
}

/* One of this name that was begun in the same task, in its instance, or around that. */
static uint32_t open_by_name(const struct scripts *w, const struct instance *i, const char *name,
			     int64_t time_us)
{
	uint32_t task = i->parent_task, instance, found = NO_INDEX;

	for (int n = 0; found == NO_INDEX && task != NO_INDEX && n < LEVELS_MAX; n++) {
		instance = w->rec->task[task].instance;
		found = open_in(w, owner_key(task, 0), OWNER, name, time_us);
		if (found == NO_INDEX)
			found = open_in(w, owner_key(NO_INDEX, instance), OWNER, name, time_us);
		task = w->rec->instance[instance].parent_task;
	}
	if (found == NO_INDEX)
		found = open_in(w, owner_key(NO_INDEX, NO_INDEX), OWNER, name, time_us);
	return found;
}

/* A shell may have executed its last command in its own process. */
static void end_named(const struct scripts *w, const struct span_end *e)
{
	const struct instance *i = &w->rec->instance[e->instance];
	struct ancestors a = ancestors_of(w->rec, i);
	uint32_t found = NO_INDEX;
	int32_t pid;

	while (found == NO_INDEX && next_ancestor(&a, &pid))
		found = open_in(w, pid, SCOPE, e->name, e->time_us);
	if (found == NO_INDEX && is_task_itself(w->rec, i))
		found = open_in(w, scope_of(i), SCOPE, e->name, e->time_us);
	if (found == NO_INDEX && *e->name)
		found = open_by_name(w, i, e->name, e->time_us);
	if (found == NO_INDEX)
		w->rec->span_faults[SPAN_NO_BEGIN]++;
	else
		w->rec->span[found].end_us = e->time_us;
}

/* Instances, then the ends that some of them wrote: those have the same time. */
static int in_order(struct scripts *w, struct keyed *order)
{
	const struct recording *rec = w->rec;
	size_t n = 0;
	int error;

	for (size_t i = 0; i < rec->n_instances; i++) {
		int64_t open_us = rec->instance[i].open_us;

		order[n++] = (struct keyed){ (uint64_t)(open_us < 0 ? 0 : open_us), (int64_t)i };
	}
	for (size_t i = 0; i < w->r->n_span_ends; i++) {
		if (w->r->span_end[i].name)
			order[n++] = (struct keyed){ (uint64_t)w->r->span_end[i].time_us, ~(int64_t)i };
	}
	error = sort_keyed(order, n);
	for (size_t i = 0; i < n && !error; i++) {
		if (order[i].value < 0)
			end_named(w, &w->r->span_end[~order[i].value]);
		else
			error = open_instance(w, (uint32_t)order[i].value);
	}
	return error;
}

static void find_spans(const struct scripts *w)
{
	const struct recording *rec = w->rec;

	memset(w->span, 0xff, rec->n_instances * sizeof *w->span);
	for (size_t i = rec->n_spans; i-- > 0;) {
		if (rec->instance[rec->span[i].instance].only_spans)
			w->span[rec->span[i].instance] = (uint32_t)i;
	}
}

static bool any_script(const struct recording *rec)
{
	for (size_t i = 0; i < rec->n_instances; i++) {
		if (rec->instance[i].only_spans)
			return true;
	}
	return false;
}

int reader_link_spans(struct reader *r)
{
	struct recording *rec = r->rec;
	struct scripts w = { .r = r, .rec = rec };
	struct keyed *order;
	int error = -ENOMEM;

	if (!any_script(rec))
		return 0;
	order = array_new(rec->n_instances + r->n_span_ends, sizeof *order);
	w.span = array_new(rec->n_instances, sizeof *w.span);
	w.begun = array_new(rec->n_instances, sizeof *w.begun);
	if (order && w.span && w.begun) {
		find_spans(&w);
		error = in_order(&w, order);
	}
	free_all(order, w.span, w.begun);
	index_release(&w.newest);
	return error;
}
