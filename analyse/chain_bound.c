/* SPDX-License-Identifier: MIT */
#include "analyse/chain_bound.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/minmax.h"
#include "base/sort.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* How far something that works alone has come: at a time of the recording, and how early it
 * could have come as far. The second is never after the first. */
struct front {
	int64_t at_us, early_us;
	uint32_t last;		/* the task that ended then, NO_INDEX: none */
};

/* A task that hosts, or the build around all instances without such a task. */
struct hosting {
	struct front own;
	bool started;
	uint32_t first;		/* instance in it */
	uint32_t n_open;	/* instances in it */
	struct front closed;	/* the latest of those that closed while any was open */
};

struct inside {			/* an instance */
	uint32_t host;		/* index */
	bool opened, closed;
	bool reads;		/* it ran no tasks so far but those of $(shell) */
	int64_t close_us;	/* its own, or that of what it runs in */
	struct front own;	/* until its first task */
	struct front shell;	/* the last $(shell), by its end */
	struct front most;	/* of all tasks; at_us: the end of the last */
};

struct work {
	const struct summary *s;
	const struct recording *rec;
	struct chain *c;
	struct arena *memory;
	int64_t *early_us;	/* of each task: its end */
	uint32_t *before;	/* and the task that it waited for */
	struct front *made;	/* of each target: the latest of its tasks so far */
	struct front *group;	/* of each of needs.node, once it is known */
	size_t n_groups;
	uint32_t *number;	/* of each task: its host */
	struct hosting *host;	/* the first one is the build */
	struct inside *inside;	/* of each instance */
	struct keyed *event;	/* see enum event */
	size_t n_events;
	struct front all;	/* the end of the whole build */
};

static const struct task *task(const struct work *w, uint32_t i)
{
	return &w->rec->task[i];
}

static void later(struct front *f, int64_t early_us, uint32_t last)
{
	if (early_us > f->early_us) {
		f->early_us = early_us;
		f->last = last;
	}
}

static void later_end(struct front *f, const struct front *other)
{
	later(f, other->early_us, other->last);
	f->at_us = MAX(other->at_us, f->at_us);
}

/* It works on until a time. */
static void advance(const struct work *w, struct front *f, int64_t at_us)
{
	if (at_us > f->at_us) {
		f->early_us += free_cores_got_us(&w->c->free, f->at_us, at_us);
		f->at_us = at_us;
	}
}

/* The times of damaged recordings may contradict each other. */
static void settle_front(struct front *f)
{
	if (f->early_us > f->at_us)
		f->early_us = f->at_us;
}

/* Instances and the tasks that host them */

static struct front host_now(const struct hosting *h)
{
	struct front f = h->own;

	if (h->n_open)
		later(&f, h->closed.early_us, h->closed.last);
	return f;
}

static void open_instance(struct work *w, uint32_t i)
{
	struct inside *in = &w->inside[i];
	struct hosting *h = &w->host[in->host];
	int64_t at_us = w->rec->instance[i].open_us;

	if (in->opened)
		return;
	in->opened = true;
	in->reads = true;
	in->own = (struct front){ .at_us = at_us, .last = NO_INDEX };
	if (h->started) {
		if (!h->n_open++) {
			advance(w, &h->own, at_us);
			h->closed = h->own;
		}
		in->own.early_us = h->own.early_us;
		in->own.last = h->own.last;
		settle_front(&in->own);
	} else {
		in->closed = true;	/* damaged: nothing waits for it */
	}
	in->most = in->shell = in->own;
}

static void close_instance(struct work *w, uint32_t i)
{
	struct inside *in = &w->inside[i];
	struct hosting *h = &w->host[in->host];
	struct front end;

	open_instance(w, i);
	if (in->closed)
		return;
	in->closed = true;
	end = in->most;
	if (w->rec->instance[i].close_us == in->close_us)
		advance(w, &end, in->close_us);
	later(&h->closed, end.early_us, end.last);
	if (--h->n_open)
		return;
	h->own = h->closed;
	h->own.at_us = in->close_us;
	settle_front(&h->own);
}

/* A task that hosts none is known to end when it starts. */
static void end_task(struct work *w, uint32_t i, struct front end)
{
	const struct task *t = task(w, i);
	struct inside *in = &w->inside[t->instance];

	w->early_us[i] = end.early_us;
	later_end(&w->made[w->s->nest[i].target], &(struct front){ recording_task_end_us(w->rec, t),
								   end.early_us, end.last });
	if (end.at_us <= in->close_us) {
		later(&in->most, end.early_us, end.last);
		in->most.at_us = MAX(end.at_us, in->most.at_us);
	}
	later(&w->all, end.early_us, end.last);
	if (task_is_shell(t))
		in->shell = end;
	if (task_is_shell(t) && in->reads)
		in->own = end;
}

static void end_host(struct work *w, uint32_t i)
{
	struct hosting *h = &w->host[w->number[i]];

	if (!h->started)
		return;
	h->own = host_now(h);
	if (!h->n_open)
		advance(w, &h->own, recording_task_end_us(w->rec, task(w, i)));
	h->own.at_us = recording_task_end_us(w->rec, task(w, i));
	settle_front(&h->own);
	h->started = false;
	end_task(w, i, h->own);
}

/* Tasks */

/* What another task has to wait for: of a task that hosts, what it does now may be all. */
static struct front end_of(const struct work *w, uint32_t i)
{
	if (!task(w, i)->hosts)
		return (struct front){ 0, w->early_us[i], i };
	return host_now(&w->host[w->number[i]]);
}

/* A stamp may be too early by a little: the same little of its end does not count. */
static void wait_until(struct front *f, struct front end, int64_t start_us)
{
	if (end.at_us <= start_us + WAIT_STAMP_US)
		later(f, end.early_us - (end.at_us > start_us ? end.at_us - start_us : 0), end.last);
}

static void wait_for(const struct work *w, struct front *f, uint32_t before, int64_t start_us)
{
	struct front end;

	if (before == NO_INDEX)
		return;
	end = end_of(w, before);
	end.at_us = recording_task_end_us(w->rec, task(w, before));
	wait_until(f, end, start_us);
}

/* All tasks of the target, such as the members of an archive, if all have ended. */
static void wait_for_target(const struct work *w, struct front *f, uint32_t maker, int64_t start_us)
{
	wait_for(w, f, maker, start_us);
	wait_until(f, w->made[w->s->nest[maker].target], start_us);
}

/* The groups up to this one, which were met in this order. All behind them has ended. */
static void find_groups(struct work *w, uint32_t group)
{
	const struct needs *n = &w->c->waits.needs;

	for (; w->n_groups <= group; w->n_groups++) {
		const struct needs_group *g = &n->node[w->n_groups];
		struct front *f = &w->group[w->n_groups];

		*f = (struct front){ .last = NO_INDEX };
		for (uint32_t k = g->first; k < g->first + g->n; k++) {
			uint32_t at = n->member[k];

			if (at >= n->n_tasks) {
				later_end(f, &w->group[at - n->n_tasks]);
				continue;
			}
			at = needs_within(w->s, at, g->instance);
			if (at == NO_INDEX)
				continue;
			wait_for_target(w, f, at, INT64_MAX - WAIT_STAMP_US);
			f->at_us = MAX(recording_task_end_us(w->rec, task(w, at)), f->at_us);
		}
	}
}

static void wait_for_targets(struct work *w, struct front *f, const struct task *t)
{
	const struct needs *n = &w->c->waits.needs;

	for (size_t k = t->first_after; k < (size_t)t->first_after + t->n_after; k++) {
		uint32_t maker = needs_within(w->s, n->maker[k], t->instance);

		if (n->group[k] != NO_INDEX) {
			find_groups(w, n->group[k]);
			wait_until(f, w->group[n->group[k]], t->start_us);
		}
		if (maker != NO_INDEX)
			wait_for_target(w, f, maker, t->start_us);
	}
}

/* Until its first task a host works alone. $(shell) is part of that work. */
static struct front start_in_instance(const struct work *w, struct inside *in, const struct task *t,
				      bool shell)
{
	struct front f = in->own;

	if (in->reads) {
		advance(w, &f, t->start_us);
		in->own = f;
		in->reads = shell;
	} else if (shell && in->shell.at_us <= t->start_us) {
		later(&f, in->shell.early_us, in->shell.last);
	}
	return f;
}

static void start_task(struct work *w, uint32_t i)
{
	const struct task *t = task(w, i);
	const struct wait_task *wait = &w->c->waits.task[i];
	bool shell = task_is_shell(t), make = w->rec->instance[t->instance].level >= 0;
	int64_t end_us = recording_task_end_us(w->rec, t);
	struct front f;

	open_instance(w, t->instance);
	f = start_in_instance(w, &w->inside[t->instance], t, shell);
	wait_for_targets(w, &f, t);
	if (make)
		wait_for(w, &f, wait->line, t->start_us);
	wait_for(w, &f, wait->order, t->start_us);
	w->before[i] = f.last;
	f.at_us = t->start_us;
	settle_front(&f);
	w->early_us[i] = f.early_us;
	if (t->hosts && end_us > t->start_us) {
		w->host[w->number[i]].own = f;
		w->host[w->number[i]].started = true;
		return;
	}
	f.early_us += w->c->free.need_us[i];
	f.at_us = MAX(end_us, f.at_us);
	f.last = i;
	end_task(w, i, f);
}

/* In the order of time */

/* Of one time, what ends comes before what starts, and that before the instances that open. An
 * instance opens in a task before its own tasks start: open_instance() is called for both. */
enum event { EVENT_CLOSE, EVENT_HOST, EVENT_OPEN };

static void add_event(struct work *w, enum event what, uint32_t i, int64_t time_us)
{
	w->event[w->n_events++] = (struct keyed){
		(uint64_t)time_us << 1 | (what == EVENT_OPEN), (int64_t)i << 2 | what
	};
}

/* A make that executes itself again does not close: the next one has its process. */
static int end_replaced(struct work *w)
{
	const struct instance *in = w->rec->instance;
	size_t n = w->rec->n_instances;
	struct keyed *k = array_new(n + 1, sizeof *k);

	for (size_t i = 0; k && i < n; i++)
		k[i] = (struct keyed){ (uint64_t)(uint32_t)in[i].pid, (int64_t)i };
	if (!k || sort_keyed(k, n)) {
		free(k);
		return -ENOMEM;
	}
	for (size_t i = 0; i + 1 < n; i++) {
		int64_t *close_us = &w->inside[k[i].value].close_us;

		if (k[i].key == k[i + 1].key && in[k[i].value].pid > 0 &&
		    *close_us > in[k[i + 1].value].open_us)
			*close_us = in[k[i + 1].value].open_us;
	}
	free(k);
	return 0;
}

/* The last instance first: so of one time inner ones close before the tasks around them end, and
 * these before outer ones. */
static int find_events(struct work *w)
{
	const struct recording *rec = w->rec;

	for (uint32_t i = (uint32_t)rec->n_instances; i--; ) {
		uint32_t parent = rec->instance[i].parent_task;

		if (rec->instance[i].only_spans)
			continue;
		add_event(w, EVENT_OPEN, i, rec->instance[i].open_us);
		add_event(w, EVENT_CLOSE, i, w->inside[i].close_us);
		if (parent != NO_INDEX && w->host[w->inside[i].host].first == i)
			add_event(w, EVENT_HOST, parent,
				  recording_task_end_us(rec, &rec->task[parent]));
	}
	return sort_keyed(w->event, w->n_events);
}

static void handle(struct work *w, const struct keyed *event)
{
	uint32_t i = (uint32_t)(event->value >> 2);

	switch ((enum event)(event->value & 3)) {
	case EVENT_CLOSE:
		close_instance(w, i);
		break;
	case EVENT_HOST:
		end_host(w, i);
		break;
	case EVENT_OPEN:
		open_instance(w, i);
		break;
	}
}

static void sweep(struct work *w)
{
	const uint32_t *order = w->s->order;
	struct hosting *build = &w->host[0];
	size_t at = 0;

	build->started = true;
	build->own.last = NO_INDEX;
	for (size_t i = 0; i < w->s->n_ran; i++) {
		uint64_t now = (uint64_t)task(w, order[i])->start_us << 1;

		for (; at < w->n_events && w->event[at].key <= now; at++)
			handle(w, &w->event[at]);
		start_task(w, order[i]);
	}
	for (; at < w->n_events; at++)
		handle(w, &w->event[at]);
	build->own = host_now(build);
	if (!build->n_open)
		advance(w, &build->own, w->s->wall_us);
	later(&w->all, build->own.early_us, build->own.last);
}

/* The tasks that host, numbered behind the build. */
static void find_hosts(struct work *w)
{
	const struct recording *rec = w->rec;
	uint32_t n = 1;

	for (size_t i = 0; i < rec->n_tasks; i++)
		w->number[i] = rec->task[i].hosts ? n++ : NO_INDEX;
	for (size_t i = 0; i < n; i++)
		w->host[i].first = NO_INDEX;
	for (uint32_t i = 0; i < rec->n_instances; i++) {
		const struct instance *in = &rec->instance[i];
		uint32_t parent = in->parent_task;
		int64_t end_us = w->s->wall_us;

		if (parent != NO_INDEX && rec->task[parent].hosts && task_ran(&rec->task[parent])) {
			w->inside[i].host = w->number[parent];
			end_us = recording_task_end_us(rec, &rec->task[parent]);
		}
		if (w->host[w->inside[i].host].first == NO_INDEX && !in->only_spans)
			w->host[w->inside[i].host].first = i;
		w->inside[i].close_us = in->close_us >= in->open_us && in->close_us < end_us ?
					in->close_us : end_us;
	}
}

static int allocate(struct work *w)
{
	const struct recording *rec = w->rec;
	size_t n_events = 3 * rec->n_instances;

	if (!w->memory)
		return -ENOMEM;
	w->early_us = arena_alloc(w->memory, (rec->n_tasks + 1) * sizeof *w->early_us);
	w->before = arena_alloc(w->memory, (rec->n_tasks + 1) * sizeof *w->before);
	w->number = arena_alloc(w->memory, (rec->n_tasks + 1) * sizeof *w->number);
	w->made = arena_alloc(w->memory, (w->s->n_targets + 1) * sizeof *w->made);
	w->group = arena_alloc(w->memory, (w->c->waits.needs.n_groups + 1) * sizeof *w->group);
	w->host = arena_alloc(w->memory, (w->s->n_hosting + 1) * sizeof *w->host);
	w->inside = arena_alloc(w->memory, (rec->n_instances + 1) * sizeof *w->inside);
	w->event = arena_alloc(w->memory, (n_events + 1) * sizeof *w->event);
	if (!w->early_us || !w->before || !w->number || !w->made || !w->group || !w->host || !w->inside ||
	    !w->event)
		return -ENOMEM;
	for (size_t i = 0; i < w->s->n_targets; i++)
		w->made[i].last = NO_INDEX;
	return 0;
}

static int fill_path(struct chain *c, const struct work *w)
{
	size_t n = 0;

	for (uint32_t i = w->all.last; i != NO_INDEX; i = w->before[i])
		n++;
	c->dependency = array_new(n + 1, sizeof *c->dependency);
	if (!c->dependency)
		return -ENOMEM;
	c->n_dependency = n;
	for (uint32_t i = w->all.last; i != NO_INDEX; i = w->before[i])
		c->dependency[--n] = i;
	/* a task may have outlived the build */
	c->dependency_us = MIN(w->all.early_us, w->s->wall_us);
	return 0;
}

int chain_bound_fill(struct chain *c, const struct summary *s)
{
	struct work w = { .s = s, .rec = s->rec, .c = c, .all.last = NO_INDEX };
	int r;

	c->dependency_us = -1;
	if (!c->waits.has_dependencies)
		return 0;
	w.memory = arena_new();
	r = allocate(&w);
	if (!r) {
		find_hosts(&w);
		r = end_replaced(&w);
	}
	if (!r)
		r = find_events(&w);
	if (!r) {
		sweep(&w);
		r = fill_path(c, &w);
	}
	arena_free(w.memory);
	return r;
}
