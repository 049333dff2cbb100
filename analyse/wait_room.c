/* SPDX-License-Identifier: MIT */
#include "analyse/wait_room.h"

#include "analyse/workers.h"
#include "base/minmax.h"
#include "base/search.h"
#include "command/build_tool.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static const struct task *task(const struct wait_room *w, uint32_t i)
{
	return &w->rec->task[i];
}

static struct capacity *workers_of(const struct wait_room *w, uint32_t i)
{
	return &w->workers[w->group[i]];
}

/* The workers */

/* A make shares its workers with the make it runs in, unless it was given a -j of its own. */
static uint32_t scope_of(const struct wait_room *w, uint32_t i, int64_t own_jobs)
{
	const struct instance *in = &w->rec->instance[i];
	uint32_t outer = in->parent_task == NO_INDEX ? NO_INDEX :
			 task(w, in->parent_task)->instance;

	if (outer == NO_INDEX || outer >= i || in->level <= 0 || own_jobs >= 0 ||
	    w->rec->instance[outer].level < 0)
		return i;
	return w->scope[outer];
}

/* What ninja takes for -j if it is not given; 0: the number of cores is unknown. */
static int64_t ninja_jobs(const struct wait_room *w)
{
	int64_t cores = w->s->cores;

	return cores < 0 ? 0 : cores <= 1 ? 2 : cores == 2 ? 3 : cores + 2;
}

/* A limit of 0 is replaced after the first sweep: by the largest number of tasks that ran at once. */
static void find_workers(struct wait_room *w)
{
	for (uint32_t i = 0; i < w->rec->n_instances; i++) {
		struct workers given = workers_given(&w->rec->instance[i]);

		w->scope[i] = scope_of(w, i, given.jobs);
		w->workers[i].limit = given.jobs >= 0 ? given.jobs :
				      build_tool_of(w->rec->instance[i].tool)->ninja ? ninja_jobs(w) : 0;
		w->load[i] = w->scope[i] == i || !isnan(given.load) ? given.load :
			     w->load[w->scope[i]];
		w->first_us[i] = -1;
	}
}

/* A task that hosts a make waits for it: the first task inside takes no worker, but that of its host. */
static void begin_task(struct wait_room *w, uint32_t i)
{
	uint32_t parent = w->around[i], instance = task(w, i)->instance;
	int64_t now_us = task(w, i)->start_us;

	if (task_is_shell(task(w, i))) {
		capacity_enter(&w->shell[instance], now_us);
		return;
	}
	w->runs[i] = true;
	w->lends[i] = parent != NO_INDEX && w->runs[parent];
	if (!w->lends[i] || w->inside[parent]++)
		capacity_enter(workers_of(w, i), now_us);
	if (w->rec->n_pools && task(w, i)->pool != NO_INDEX)
		capacity_enter(&w->pool[task(w, i)->pool], now_us);
	if (w->first_us[instance] < 0)
		w->first_us[instance] = now_us;
}

/* The last task inside a host that still runs gives the worker back to it. */
static int end_task(struct wait_room *w, uint32_t i, int64_t now_us)
{
	uint32_t parent = w->around[i];
	int r = 0;

	if (task_is_shell(task(w, i)))
		return capacity_leave(&w->shell[task(w, i)->instance], now_us);
	w->runs[i] = false;
	if (!w->inside[i])
		r = capacity_leave(workers_of(w, i), now_us);
	if (w->lends[i] && !--w->inside[parent] && w->runs[parent])
		capacity_enter(workers_of(w, i), now_us);
	if (!r && w->rec->n_pools && task(w, i)->pool != NO_INDEX)
		r = capacity_leave(&w->pool[task(w, i)->pool], now_us);
	return r;
}

/* What a sweep needs of each task, in arrays: two sweeps then read less memory. */
static void look_at_tasks(struct wait_room *w)
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
static int sweep(struct wait_room *w)
{
	const uint32_t *order = w->s->order, *by_end = w->s->by_end;
	size_t at = 0, n = w->s->n_ran;

	for (size_t i = 0; i <= n; i++) {
		int64_t now_us = i < n ? task(w, order[i])->start_us : INT64_MAX;

		for (; at < n && w->end_us[at] <= now_us && w->place[by_end[at]] < i; at++) {
			if (end_task(w, by_end[at], w->end_us[at]))
				return -ENOMEM;
		}
		if (i < n)
			begin_task(w, order[i]);
	}
	return 0;
}

static void set_limits(struct wait_room *w)
{
	for (size_t i = 0; i < w->rec->n_pools; i++) {
		capacity_release(&w->pool[i]);
		w->pool[i].limit = w->rec->pool[i].depth;
	}
	for (size_t i = 0; i < w->rec->n_instances; i++) {
		int64_t limit = w->workers[i].limit ? w->workers[i].limit : w->workers[i].most;

		capacity_release(&w->workers[i]);
		w->workers[i].limit = limit ? limit : 1;
		capacity_release(&w->shell[i]);
		w->shell[i].limit = 1;
	}
	memset(w->inside, 0, w->rec->n_tasks * sizeof *w->inside);
}

static int fill_capacities(struct wait_room *w)
{
	bool unknown = false;
	int r = 0;

	find_workers(w);
	for (size_t i = 0; i < w->rec->n_instances; i++)
		unknown |= !w->workers[i].limit;
	look_at_tasks(w);
	if (unknown)
		r = sweep(w);	/* to see how many tasks run at once */
	set_limits(w);
	return r ? r : sweep(w);
}

static int close_capacities(struct wait_room *w)
{
	int r = 0;

	for (size_t i = 0; i < w->rec->n_instances; i++) {
		capacity_close(&w->workers[i], WAIT_REACTION_US);
		capacity_close(&w->shell[i], 0);
	}
	for (size_t i = 0; i < w->rec->n_pools; i++)
		capacity_close(&w->pool[i], WAIT_REACTION_US);
	for (size_t i = 0; !r && i < w->rec->n_pools; i++)
		r = capacity_both(&w->both[i], &w->pool[i],
			      &w->workers[w->scope[w->rec->pool[i].instance]]);
	return r;
}

/* The load */

/* The first sample that is not before a time. */
static size_t sample_at(const struct series *s, int64_t time_ms)
{
	struct search_range search = search_all(s->n);

	while (search_next(&search))
		search_past(&search, s->time_ms[search.at] < time_ms);
	return search.at;
}

/* Can the load have reached the limit? Hosts add what their own tasks will make of it. */
static bool is_loaded(const struct wait_room *w, uint32_t instance, int64_t from_us, int64_t to_us)
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

static int64_t between(int64_t us, int64_t least, int64_t most)
{
	return us < least ? least : MIN(most, us);
}

/* What is before a time belongs to a cause. */
static int64_t take_time(int64_t *us, int64_t *until_us, int64_t from_us, int64_t to_us)
{
	*us += to_us - from_us;
	*until_us = to_us > from_us ? to_us : *until_us;
	return to_us;
}

/* Workers and pools. */
static void split_room(struct wait_room *w, const struct task *t, uint32_t i, int64_t from_us,
		       int64_t us[QUEUE_CAUSES], int64_t until_us[QUEUE_CAUSES])
{
	int64_t *workers_us = &until_us[QUEUE_WORKER], *pool_us = &until_us[QUEUE_POOL];

	us[QUEUE_WORKER] = capacity_waited_us(workers_of(w, i), from_us, t->start_us, workers_us);
	if (t->pool == NO_INDEX)
		return;
	us[QUEUE_POOL] = capacity_waited_us(&w->pool[t->pool], from_us, t->start_us, pool_us);
	us[QUEUE_WORKER] -= capacity_full_us(&w->both[t->pool], from_us,
					     MIN(*workers_us, *pool_us));
}

void wait_room_split(struct wait_room *w, uint32_t i, int64_t ready_us, int64_t order_us,
		     int64_t us[QUEUE_CAUSES], int64_t until_us[QUEUE_CAUSES])
{
	const struct task *t = task(w, i);
	int64_t from_us, queued_us, left_us, shell_us;

	/* nothing else can have been waited for before the host ran tasks */
	from_us = between(w->first_us[t->instance], ready_us, t->start_us);
	take_time(&us[QUEUE_DELAYED], &until_us[QUEUE_DELAYED], ready_us, from_us);
	from_us = take_time(&us[QUEUE_ORDER], &until_us[QUEUE_ORDER], from_us,
			    between(order_us, from_us, t->start_us));
	split_room(w, t, i, from_us, us, until_us);
	shell_us = capacity_full_us(&w->shell[t->instance], from_us, t->start_us);
	left_us = t->start_us - from_us - us[QUEUE_POOL];
	shell_us = between(shell_us, 0, left_us);
	us[QUEUE_WORKER] = between(us[QUEUE_WORKER], 0, left_us - shell_us);
	left_us -= us[QUEUE_WORKER];
	queued_us = between(t->queued_us, from_us, t->start_us) - from_us;
	queued_us -= us[QUEUE_WORKER] + us[QUEUE_POOL];
	queued_us = between(MAX(queued_us, shell_us), 0, left_us);
	us[QUEUE_DELAYED] += queued_us;
	left_us -= queued_us;
	us[!isnan(w->load[t->instance]) && left_us > WAIT_REACTION_US &&
	   is_loaded(w, t->instance, from_us, t->start_us) ? QUEUE_LOAD : QUEUE_OTHER] = left_us;
}

static void *zeros(struct wait_room *w, size_t n, size_t size)
{
	return arena_alloc(w->memory, (n + 1) * size);
}

static int allocate(struct wait_room *w)
{
	size_t n = w->rec->n_instances, tasks = w->rec->n_tasks, pools = w->rec->n_pools;

	w->memory = arena_new();
	if (!w->memory)
		return -ENOMEM;
	w->scope = zeros(w, n, sizeof *w->scope);
	w->workers = zeros(w, n, sizeof *w->workers);
	w->shell = zeros(w, n, sizeof *w->shell);
	w->load = zeros(w, n, sizeof *w->load);
	w->first_us = zeros(w, n, sizeof *w->first_us);
	w->pool = zeros(w, pools, sizeof *w->pool);
	w->both = zeros(w, pools, sizeof *w->both);
	w->end_us = zeros(w, tasks, sizeof *w->end_us);
	w->place = zeros(w, tasks, sizeof *w->place);
	w->group = zeros(w, tasks, sizeof *w->group);
	w->around = zeros(w, tasks, sizeof *w->around);
	w->inside = zeros(w, tasks, sizeof *w->inside);
	w->runs = zeros(w, tasks, sizeof *w->runs);
	w->lends = zeros(w, tasks, sizeof *w->lends);
	return w->scope && w->workers && w->shell && w->load && w->first_us && w->pool && w->both &&
	       w->end_us && w->place && w->group && w->around && w->inside && w->runs &&
	       w->lends ? 0 : -ENOMEM;
}

int wait_room_make(struct wait_room *w, const struct summary *s)
{
	int r;

	*w = (struct wait_room){ .s = s, .rec = s->rec };
	w->stat = recording_series(s->rec, "proc_stat");
	w->load_column = w->stat ? recording_series_column(w->stat, "load") : -1;
	w->stat = w->load_column < 0 ? NULL : w->stat;
	r = allocate(w);
	if (!r)
		r = fill_capacities(w);
	return r ? r : close_capacities(w);
}

void wait_room_release(struct wait_room *w)
{
	for (size_t i = 0; w->workers && w->shell && i < w->rec->n_instances; i++) {
		capacity_release(&w->workers[i]);
		capacity_release(&w->shell[i]);
	}
	for (size_t i = 0; w->pool && w->both && i < w->rec->n_pools; i++) {
		capacity_release(&w->pool[i]);
		capacity_release(&w->both[i]);
	}
	arena_free(w->memory);
	w->memory = NULL;
}
