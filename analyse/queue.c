/* SPDX-License-Identifier: MIT */
#include "analyse/queue.h"

#include "analyse/capacity.h"
#include "analyse/workers.h"
#include "base/arena.h"
#include "base/sort.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct work {
	const struct summary *s;
	const struct recording *rec;
	const struct chain *chain;
	struct arena *memory;		/* of all arrays but those of the capacities */
	int64_t *end_us;		/* of each of summary.by_end */
	uint32_t *scope;		/* of each instance: the one with its workers */
	struct capacity *workers;		/* of each scope */
	double *load;			/* from which on each instance starts nothing, NAN: none */
	int64_t *first_us;		/* start of the first task of each instance, -1: none */
	bool *knows_waits;		/* of each instance: tasks that waited for none are known */
	struct capacity *pool, *both;	/* of each pool; when it and the workers are full */
	uint32_t *place;		/* of each task in the order */
	uint32_t *group, *around;	/* of each task: the scope of its instance; the task around
					   it if that has the same workers, or NO_INDEX */
	uint32_t *inside;		/* running tasks to which each task lends its worker */
	bool *runs, *lends;		/* lends: the task around it does */
	const struct series *stat;	/* with the recorded load, or NULL */
	int load_column;
};

static const struct task *task(const struct work *w, uint32_t i)
{
	return &w->rec->task[i];
}

static struct capacity *workers_of(const struct work *w, uint32_t i)
{
	return &w->workers[w->group[i]];
}

static void *zeros(struct work *w, size_t n, size_t size)
{
	return arena_alloc(w->memory, (n + 1) * size);
}

/* The workers */

/* A make shares its workers with the make it runs in, unless it was given a -j of its own. */
static uint32_t scope_of(const struct work *w, uint32_t i, int64_t own_jobs)
{
	const struct instance *in = &w->rec->instance[i];
	uint32_t outer = in->parent_task == NO_INDEX ? NO_INDEX :
			 task(w, in->parent_task)->instance;

	if (outer == NO_INDEX || outer >= i || in->level <= 0 || own_jobs >= 0 ||
	    w->rec->instance[outer].level < 0)
		return i;
	return w->scope[outer];
}

/* As ninja does; 0: unknown. */
static int64_t ninja_jobs(const struct work *w)
{
	int64_t cores = w->s->cores;

	return cores < 0 ? 0 : cores <= 1 ? 2 : cores == 2 ? 3 : cores + 2;
}

static bool is_ninja(const struct instance *in)
{
	return !strcmp(in->tool, "ninja") || !strcmp(in->tool, "ninja-build");
}

/* The limit of workers is 0 if it follows from what ran at once. */
static void find_workers(struct work *w)
{
	for (uint32_t i = 0; i < w->rec->n_instances; i++) {
		struct workers given = workers_given(&w->rec->instance[i]);

		w->scope[i] = scope_of(w, i, given.jobs);
		w->workers[i].limit = given.jobs >= 0 ? given.jobs :
				      is_ninja(&w->rec->instance[i]) ? ninja_jobs(w) : 0;
		w->load[i] = w->scope[i] == i || !isnan(given.load) ? given.load :
			     w->load[w->scope[i]];
		w->first_us[i] = -1;
	}
}

/* A task that hosts gives its worker to the first task inside it. */
static void begin(struct work *w, uint32_t i)
{
	uint32_t parent = w->around[i], instance = task(w, i)->instance;
	int64_t now_us = task(w, i)->start_us;

	w->runs[i] = true;
	w->lends[i] = parent != NO_INDEX && w->runs[parent];
	if (!w->lends[i] || w->inside[parent]++)
		capacity_enter(workers_of(w, i), now_us);
	if (w->rec->n_pools && task(w, i)->pool != NO_INDEX)
		capacity_enter(&w->pool[task(w, i)->pool], now_us);
	if (w->first_us[instance] < 0)
		w->first_us[instance] = now_us;
}

/* ... and gets it back from the last. */
static int finish(struct work *w, uint32_t i, int64_t now_us)
{
	uint32_t parent = w->around[i];
	int r = 0;

	w->runs[i] = false;
	if (!w->inside[i])
		r = capacity_leave(workers_of(w, i), now_us);
	if (w->lends[i] && !--w->inside[parent] && w->runs[parent])
		capacity_enter(workers_of(w, i), now_us);
	if (!r && w->rec->n_pools && task(w, i)->pool != NO_INDEX)
		r = capacity_leave(&w->pool[task(w, i)->pool], now_us);
	return r;
}

/* What a sweep needs of each task, close together: there may be two of them. */
static void look_at_tasks(struct work *w)
{
	const struct summary *s = w->s;

	for (size_t i = 0; i < w->rec->n_tasks; i++)
		w->group[i] = w->scope[task(w, (uint32_t)i)->instance];
	for (size_t i = 0; i < s->n_ran; i++) {
		uint32_t t = s->order[i], parent = s->nest[t].parent;

		w->place[t] = (uint32_t)i;
		w->around[t] = parent != NO_INDEX && w->group[parent] == w->group[t] ? parent :
			       NO_INDEX;
		w->end_us[i] = recording_task_end_us(w->rec, task(w, s->by_end[i]));
	}
}

/* All starts and ends in the order of time. */
static int sweep(struct work *w)
{
	const uint32_t *order = w->s->order, *by_end = w->s->by_end;
	size_t at = 0, n = w->s->n_ran;
	int r = 0;

	for (size_t i = 0; !r && i <= n; i++) {
		int64_t now_us = i < n ? task(w, order[i])->start_us : INT64_MAX;

		for (; !r && at < n && w->end_us[at] <= now_us && w->place[by_end[at]] < i; at++)
			r = finish(w, by_end[at], w->end_us[at]);
		if (!r && i < n)
			begin(w, order[i]);
	}
	return r;
}

static int fill_capacities(struct work *w)
{
	bool unknown = false;
	int r = 0;

	for (size_t i = 0; i < w->rec->n_pools; i++)
		w->pool[i].limit = w->rec->pool[i].depth;
	find_workers(w);
	for (size_t i = 0; i < w->rec->n_instances; i++)
		unknown |= !w->workers[i].limit;
	look_at_tasks(w);
	if (unknown) {
		/* The first time to see how many tasks run at once. */
		r = sweep(w);
		for (size_t i = 0; i < w->rec->n_instances; i++) {
			struct capacity *g = &w->workers[i];
			int64_t limit = g->limit ? g->limit : g->most;

			capacity_release(g);
			g->limit = limit ? limit : 1;
		}
		for (size_t i = 0; i < w->rec->n_pools; i++) {
			capacity_release(&w->pool[i]);
			w->pool[i].limit = w->rec->pool[i].depth;
		}
		memset(w->inside, 0, w->rec->n_tasks * sizeof *w->inside);
	}
	return r ? r : sweep(w);
}

static int close_capacities(struct work *w)
{
	int r = 0;

	for (size_t i = 0; i < w->rec->n_instances; i++)
		capacity_close(&w->workers[i], CHAIN_REACTION_US);
	for (size_t i = 0; i < w->rec->n_pools; i++)
		capacity_close(&w->pool[i], CHAIN_REACTION_US);
	for (size_t i = 0; !r && i < w->rec->n_pools; i++)
		r = capacity_both(&w->both[i], &w->pool[i],
			      &w->workers[w->scope[w->rec->pool[i].instance]]);
	return r;
}

/* The load */

/* The first sample that is not before a time. */
static size_t sample_at(const struct series *s, int64_t time_ms)
{
	size_t low = 0, high = s->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->time_ms[middle] < time_ms)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Can the load have reached the limit? Hosts add what their own tasks will make of it. */
static bool is_loaded(const struct work *w, uint32_t instance, int64_t from_us, int64_t to_us)
{
	const struct series *s = w->stat;
	double own = (double)w->workers[w->scope[instance]].most;
	size_t i = s ? sample_at(s, from_us / 1000) : 0;
	bool any = false;

	for (i -= i > 0; s && i < s->n && (!any || s->time_ms[i] <= to_us / 1000); i++) {
		int64_t level = s->level[i * s->n_columns + (size_t)w->load_column];

		if (level == SERIES_ABSENT)
			continue;
		if ((double)level / 100 + own >= w->load[instance])
			return true;
		any = true;
	}
	return !any;
}

/* The split */

/* -1: unknown. */
static int64_t ready_us(const struct work *w, uint32_t i)
{
	const struct task *t = task(w, i);
	int64_t us = w->chain->ready_us[i];

	if (us < 0 && t->queued_us >= 0)
		us = t->queued_us;
	if (us < 0 && w->knows_waits[t->instance])
		us = w->rec->instance[t->instance].open_us;
	return us > t->start_us ? t->start_us : us;
}

static int64_t between(int64_t us, int64_t least, int64_t most)
{
	return us < least ? least : us > most ? most : us;
}

static void split(const struct work *w, uint32_t i, struct queue_task *q)
{
	const struct task *t = task(w, i);
	int64_t *wait = q->wait_us, from_us, queued_us, left_us, workers_us, pool_us;

	q->ready_us = ready_us(w, i);
	if (q->ready_us < 0)
		return;
	/* nothing else can have been waited for before the host ran tasks */
	from_us = between(w->first_us[t->instance], q->ready_us, t->start_us);
	wait[QUEUE_DELAYED] = from_us - q->ready_us;
	wait[QUEUE_WORKER] = capacity_waited_us(workers_of(w, i), from_us, t->start_us, &workers_us);
	if (t->pool != NO_INDEX) {
		wait[QUEUE_POOL] = capacity_waited_us(&w->pool[t->pool], from_us, t->start_us, &pool_us);
		wait[QUEUE_WORKER] -= capacity_full_us(&w->both[t->pool], from_us,
						   workers_us < pool_us ? workers_us : pool_us);
	}
	left_us = t->start_us - from_us - wait[QUEUE_WORKER] - wait[QUEUE_POOL];
	queued_us = between(t->queued_us, from_us, t->start_us) - from_us;
	queued_us -= wait[QUEUE_WORKER] + wait[QUEUE_POOL];
	if (queued_us > 0) {
		wait[QUEUE_DELAYED] += queued_us;
		left_us -= queued_us;
	}
	wait[!isnan(w->load[t->instance]) && left_us > CHAIN_REACTION_US &&
	     is_loaded(w, t->instance, from_us, t->start_us) ? QUEUE_LOAD : QUEUE_OTHER] = left_us;
}

/* If one make records what its tasks wait for, all do: those that record nothing, such as that
 * of GCC's link-time optimisation, have only tasks that wait for nothing. */
static void share_knowledge(struct work *w)
{
	const struct recording *rec = w->rec;
	bool known = false;

	for (size_t i = 0; i < rec->n_instances; i++)
		known |= rec->instance[i].level >= 0 && w->knows_waits[i];
	for (size_t i = 0; known && i < rec->n_instances; i++)
		w->knows_waits[i] |= rec->instance[i].level >= 0;
}

static int allocate(struct work *w)
{
	size_t n = w->rec->n_instances, tasks = w->rec->n_tasks, pools = w->rec->n_pools;

	w->memory = arena_new();
	if (!w->memory)
		return -ENOMEM;
	w->scope = zeros(w, n, sizeof *w->scope);
	w->workers = zeros(w, n, sizeof *w->workers);
	w->load = zeros(w, n, sizeof *w->load);
	w->first_us = zeros(w, n, sizeof *w->first_us);
	w->knows_waits = zeros(w, n, sizeof *w->knows_waits);
	w->pool = zeros(w, pools, sizeof *w->pool);
	w->both = zeros(w, pools, sizeof *w->both);
	w->end_us = zeros(w, tasks, sizeof *w->end_us);
	w->place = zeros(w, tasks, sizeof *w->place);
	w->group = zeros(w, tasks, sizeof *w->group);
	w->around = zeros(w, tasks, sizeof *w->around);
	w->inside = zeros(w, tasks, sizeof *w->inside);
	w->runs = zeros(w, tasks, sizeof *w->runs);
	w->lends = zeros(w, tasks, sizeof *w->lends);
	return w->scope && w->workers && w->load && w->first_us && w->knows_waits && w->pool &&
	       w->both && w->end_us && w->place && w->group && w->around && w->inside &&
	       w->runs && w->lends ? 0 : -ENOMEM;
}

static void release(struct work *w)
{
	for (size_t i = 0; w->workers && i < w->rec->n_instances; i++)
		capacity_release(&w->workers[i]);
	for (size_t i = 0; w->pool && w->both && i < w->rec->n_pools; i++) {
		capacity_release(&w->pool[i]);
		capacity_release(&w->both[i]);
	}
	arena_free(w->memory);
}

int queue_make(struct queue *q, const struct summary *s, const struct chain *c)
{
	const struct recording *rec = s->rec;
	struct work w = { .s = s, .rec = rec, .chain = c };
	int r = allocate(&w);

	w.stat = recording_series(rec, "proc_stat");
	w.load_column = w.stat ? recording_series_column(w.stat, "load") : -1;
	w.stat = w.load_column < 0 ? NULL : w.stat;
	q->task = malloc((rec->n_tasks + 1) * sizeof *q->task);
	if (!q->task)
		r = -ENOMEM;
	if (!r)
		r = fill_capacities(&w);
	if (!r)
		r = close_capacities(&w);
	for (size_t i = 0; !r && i < rec->n_tasks; i++) {
		q->task[i] = (struct queue_task){ .ready_us = -1 };
		w.knows_waits[rec->task[i].instance] |= rec->task[i].n_after > 0 ||
							*rec->task[i].file;
	}
	if (!r)
		share_knowledge(&w);
	for (size_t i = 0; !r && i < s->n_ran; i++)
		split(&w, s->order[i], &q->task[s->order[i]]);
	release(&w);
	return r;
}

void queue_release(struct queue *q)
{
	free(q->task);
	q->task = NULL;
}

int queue_curve(struct curve *waiting, const struct summary *s, const struct queue *q)
{
	struct keyed *begin = malloc((s->n_ran + 1) * sizeof *begin);
	struct keyed *end = malloc((s->n_ran + 1) * sizeof *end);
	size_t n = 0;
	int r = -ENOMEM;

	for (size_t i = 0; begin && end && i < s->n_ran; i++) {
		int64_t ready_us = q->task[s->order[i]].ready_us;
		int64_t wait_us = queue_us(q, s->rec, s->order[i]);

		if (wait_us <= CHAIN_REACTION_US)
			continue;
		begin[n] = (struct keyed){ (uint64_t)ready_us, 0 };
		end[n++] = (struct keyed){ (uint64_t)(ready_us + wait_us), 0 };
	}
	if (begin && end)
		r = curve_count(waiting, begin, end, n);
	free(begin);
	free(end);
	return r;
}
