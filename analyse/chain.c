/* SPDX-License-Identifier: MIT */
#include "analyse/chain.h"

#include "analyse/chain_bound.h"
#include "analyse/chain_names.h"
#include "analyse/workers.h"
#include "base/arena.h"
#include "base/name_table.h"
#include "base/saturate.h"
#include "base/sort.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *const chain_wait_word[WAITS] = {
	[WAIT_NONE] = "nothing", [WAIT_TARGET] = "target", [WAIT_LINE] = "line",
	[WAIT_HOST] = "host", [WAIT_WORKER] = "worker",
	[WAIT_UNKNOWN] = "unknown", [WAIT_SHELL] = "shell",
	[WAIT_POOL] = "pool",
};

const char *const chain_link_word[LINKS] = {
	[LINK_NONE] = "none", [LINK_DEPENDENCY] = "dependency", [LINK_WORKER] = "no free worker",
	[LINK_POOL] = "full pool",
};

void chain_add_links(struct buf *b, const size_t *n)
{
	static const char *const what[LINKS] = {
		[LINK_DEPENDENCY] = " for a dependency", [LINK_WORKER] = " for a free worker",
		[LINK_POOL] = " for a pool",
	};
	bool first = true;

	for (int link = LINK_DEPENDENCY; link < LINKS; link++) {
		if (!n[link])
			continue;
		buf_addf(b, first ? "%zu waited%s" : ", %zu%s", n[link], what[link]);
		first = false;
	}
}

struct work {
	const struct summary *s;
	struct chain *c;
	struct arena *memory;		/* of all arrays but those of c */
	struct chain_names names;
	uint32_t *of_key;		/* OpenEmbedded: number of each task's recipe */
	int64_t *end_us;		/* of each task */
	/* The tasks that ended last, of those that ended so far: */
	uint32_t *of_target, *of_instance, *of_recipe, *inside;
	uint32_t of_top, of_all;	/* of those that run in no task; that host none */
	uint32_t *sibling;		/* of each instance, when it began; see first_seen */
	uint32_t *running;		/* tasks of each instance */
	uint32_t *of_pool, *in_pool;	/* of each pool: the one that ended last; how many run */
	bool *first_seen;
	uint32_t n_running, workers;	/* tasks that host none; how many there may be */
	bool *begun, *ended;		/* the tasks before, of each task */
};

static const struct task *task(const struct work *w, uint32_t i)
{
	return &w->s->rec->task[i];
}

/* NO_INDEX for n + 1 items, in the memory of the arena, if there is one. */
static uint32_t *indices(struct arena *memory, size_t n)
{
	uint32_t *p = malloc((n + 1) * sizeof *p);

	if (!p || (memory && arena_keep(memory, p)))
		return NULL;
	return memset(p, 0xff, (n + 1) * sizeof *p);
}

static void latest(const struct work *w, uint32_t *last, uint32_t i)
{
	if (*last == NO_INDEX || w->end_us[i] >= w->end_us[*last])
		*last = i;
}

static void ended(struct work *w, uint32_t i)
{
	const struct nesting *nest = &w->s->nest[i];
	uint32_t path = w->names.of_target[nest->target];

	w->ended[i] = true;
	for (uint32_t k = task(w, i)->first_out; k < task(w, i)->first_out + task(w, i)->n_out; k++) {
		if (w->names.of_out[k] != NO_INDEX)
			latest(w, chain_names_last(&w->names, w->names.of_out[k]), i);
	}
	latest(w, &w->of_target[nest->target], i);
	latest(w, &w->of_instance[task(w, i)->instance], i);
	w->running[task(w, i)->instance]--;
	if (task(w, i)->pool != NO_INDEX) {
		latest(w, &w->of_pool[task(w, i)->pool], i);
		w->in_pool[task(w, i)->pool]--;
	}
	if (!task(w, i)->hosts) {
		latest(w, &w->of_all, i);
		w->n_running--;
	}
	if (w->of_key)
		latest(w, &w->of_recipe[w->of_key[i]], i);
	if (path != NO_INDEX)
		latest(w, chain_names_last(&w->names, path), i);
	if (nest->parent != NO_INDEX)
		latest(w, &w->inside[nest->parent], i);
	else
		latest(w, &w->of_top, i);
}

/* A host waits only for its own tasks. If a task of a host inside one of them made a target, the
 * target counts as made when the outer task had ended. */
static uint32_t within_instance(const struct work *w, uint32_t i, uint32_t instance)
{
	while (i != NO_INDEX && task(w, i)->instance != instance)
		i = w->s->nest[i].parent;
	return i != NO_INDEX && w->ended[i] ? i : NO_INDEX;
}

/* Find the tasks that made what a task waited for, when it starts. */
static void find_makers(struct work *w, const struct task *t)
{
	for (size_t k = t->first_after; k < (size_t)t->first_after + t->n_after; k++) {
		uint32_t path = w->names.of_after[k], maker;

		if (path == NO_INDEX)
			continue;
		maker = *chain_names_last(&w->names, path);
		w->c->maker[k] = maker;
		w->c->other_file[k] = maker != NO_INDEX &&
				      w->names.of_target[w->s->nest[maker].target] != path;
	}
}

static uint32_t last_target(const struct work *w, const struct task *t)
{
	uint32_t last = NO_INDEX;

	for (size_t k = t->first_after; k < (size_t)t->first_after + t->n_after; k++) {
		uint32_t made = w->c->maker[k];

		made = made == NO_INDEX ? NO_INDEX : within_instance(w, made, t->instance);
		if (made != NO_INDEX)
			latest(w, &last, made);
	}
	return last;
}

/* Could the second of two instances have begun after the end of the first? make does not
 * close an instance when it executes itself again. */
static bool may_follow(const struct instance *first, const struct instance *second)
{
	return (first->close_us >= 0 && first->close_us <= second->open_us) ||
	       (first->pid > 0 && first->pid == second->pid && first->open_us < second->open_us);
}

/* The last task of the instance that ran before this one in the same task, or beside this one if
 * they run in no task. */
static uint32_t last_of_sibling(struct work *w, uint32_t i)
{
	uint32_t instance = task(w, i)->instance, parent = w->s->nest[i].parent;
	uint32_t last = parent == NO_INDEX ? w->of_top : w->inside[parent];
	const struct instance *list = w->s->rec->instance;

	if (!w->first_seen[instance] && last != NO_INDEX && task(w, last)->instance != instance &&
	    may_follow(&list[task(w, last)->instance], &list[instance]))
		w->sibling[instance] = last;
	w->first_seen[instance] = true;
	return w->sibling[instance];
}

static bool just_ended(const struct work *w, uint32_t before, const struct task *t)
{
	int64_t slack_us = w->of_key ? CHAIN_SLACK_OE_US : CHAIN_SLACK_US;

	return before != NO_INDEX && w->end_us[before] >= t->start_us - slack_us;
}

/* OpenEmbedded records no targets, but the tasks of a recipe run one after the other. A
 * task that began long after the previous one waited for another recipe. */
static enum wait decide_recipe(const struct work *w, uint32_t i, uint32_t *before)
{
	uint32_t of_recipe = w->of_recipe[w->of_key[i]];
	uint32_t of_worker = w->of_instance[task(w, i)->instance];

	*before = of_recipe;
	if (just_ended(w, of_recipe, task(w, i))) {
		w->c->ready_us[i] = w->end_us[of_recipe];
		return WAIT_LINE;
	}
	if (just_ended(w, of_worker, task(w, i))) {
		*before = of_worker;
		return WAIT_WORKER;
	}
	return of_recipe != NO_INDEX ? WAIT_LINE : WAIT_NONE;
}

/*
 * Was it a worker that was missing, once the instance ran and what the task waited for
 * had ended, at ready_us: then the worker did something else, that began only after
 * that; or it ended so late that the host cannot have been that slow.
 */
static bool is_kept(const struct work *w, uint32_t worker, int64_t ready_us, const struct task *t)
{
	if (w->end_us[worker] <= ready_us)
		return false;
	return task(w, worker)->start_us >= ready_us - CHAIN_STAMP_US ||
	       (just_ended(w, worker, t) && t->start_us - ready_us > CHAIN_REACTION_US);
}

/* The line before it in its recipe. Tasks without a name and those of $(shell) belong to no
 * common recipe. */
static uint32_t line_before(const struct work *w, uint32_t i)
{
	const struct task *t = task(w, i);

	if (!*t->name || task_is_shell(t))
		return NO_INDEX;
	return w->of_target[w->s->nest[i].target];
}

/* The number after the last -j of the outermost make; without a -j, as many as ran at once. */
static uint32_t count_workers(const struct summary *s)
{
	uint32_t make = workers_outermost(s->rec);
	int64_t n = make == NO_INDEX ? -1 : workers_given(&s->rec->instance[make]).jobs;

	n = n < 0 ? s->running_max : n;
	return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

/* A make may get its worker from another, through the jobserver: then it starts its task
 * as soon as that of the other has ended. */
static bool is_handed_over(const struct work *w, uint32_t other, int64_t ready_us,
			   const struct task *t)
{
	const struct instance *list = w->s->rec->instance;

	return other != NO_INDEX && !task_is_shell(task(w, other)) && w->n_running + 1 >= w->workers &&
	       list[t->instance].level >= 0 &&
	       list[task(w, other)->instance].level >= 0 && w->end_us[other] > ready_us &&
	       t->start_us - ready_us > CHAIN_REACTION_US &&
	       w->end_us[other] >= t->start_us - CHAIN_REACTION_US;
}

/* NO_INDEX: its pool, if it has one, was not full. */
static uint32_t pool_before(const struct work *w, const struct task *t)
{
	uint32_t last = t->pool == NO_INDEX ? NO_INDEX : w->of_pool[t->pool];

	if (last == NO_INDEX || !just_ended(w, last, t) ||
	    (int64_t)w->in_pool[t->pool] + 1 < w->s->rec->pool[t->pool].depth)
		return NO_INDEX;
	return last;
}

static enum wait decide(struct work *w, uint32_t i, uint32_t *before)
{
	const struct task *t = task(w, i);
	uint32_t sibling = last_of_sibling(w, i), line = line_before(w, i);
	uint32_t target = last_target(w, t), worker = w->of_instance[t->instance];
	uint32_t parent = w->s->nest[i].parent;
	bool kept = worker != NO_INDEX && (just_ended(w, worker, t) || !w->running[t->instance]);
	enum wait of_worker = kept && task_is_shell(task(w, worker)) ? WAIT_SHELL : WAIT_WORKER;
	int64_t ready_us = w->s->rec->instance[t->instance].open_us;

	if (target != NO_INDEX && w->end_us[target] > ready_us)
		ready_us = w->end_us[target];
	if (target != NO_INDEX || line != NO_INDEX)
		w->c->ready_us[i] = line != NO_INDEX && w->end_us[line] > ready_us ?
				    w->end_us[line] : ready_us;
	/* the next line follows at once, unless something else ran between them */
	*before = line;
	if (line != NO_INDEX &&
	    (worker == line || task(w, worker)->start_us < w->end_us[line]))
		return WAIT_LINE;
	*before = pool_before(w, t);
	if (*before != NO_INDEX && is_kept(w, *before, ready_us, t))
		return WAIT_POOL;
	*before = worker;
	if (kept && is_kept(w, worker, ready_us, t))
		return of_worker;
	*before = w->of_all;
	if (is_handed_over(w, w->of_all, ready_us, t))
		return WAIT_WORKER;
	*before = target;
	if (target != NO_INDEX)
		return WAIT_TARGET;
	*before = pool_before(w, t);
	if (*before != NO_INDEX)
		return WAIT_POOL;
	*before = worker;
	if (kept)
		return of_worker;
	/* what its instance waited for: the one before it, or the task that it runs in */
	*before = sibling;
	if (sibling != NO_INDEX)
		return WAIT_LINE;
	*before = parent != NO_INDEX && w->begun[parent] ? parent : NO_INDEX;
	return *before != NO_INDEX ? WAIT_HOST : WAIT_NONE;
}

/* When others may have waited for each task, by its place in the order. */
static struct keyed *ends_in_order(struct work *w)
{
	const struct summary *s = w->s;
	struct keyed *k = malloc((s->n_ran + 1) * sizeof *k);

	for (size_t i = 0; k && i < s->n_ran; i++) {
		const struct task *t = task(w, s->order[i]);
		int64_t end_us = recording_task_end_us(s->rec, t);
		int64_t free_us = end_us - CHAIN_STAMP_US;

		w->end_us[s->order[i]] = end_us;
		if (free_us < t->start_us)
			free_us = t->start_us;
		k[i] = (struct keyed){ (uint64_t)free_us, (int64_t)i };
	}
	if (k && sort_keyed(k, s->n_ran)) {
		free(k);
		return NULL;
	}
	return k;
}

/* In the order of time: each task when it starts, after the tasks before it that had ended
 * by then, so that no tasks wait in a circle. */
static int sweep(struct work *w)
{
	const struct summary *s = w->s;
	struct keyed *end = ends_in_order(w);
	size_t at = 0;

	if (!end)
		return -ENOMEM;
	for (size_t i = 0; i < s->n_ran; i++) {
		uint32_t now = s->order[i], *before = &w->c->before[now];
		const struct task *t = task(w, now);

		for (; end[at].key <= (uint64_t)t->start_us && end[at].value < (int64_t)i; at++)
			ended(w, s->order[end[at].value]);
		find_makers(w, t);
		w->c->why[now] = (uint8_t)(w->of_key ? decide_recipe(w, now, before) :
					   decide(w, now, before));
		w->begun[now] = true;
		w->running[t->instance]++;
		if (t->pool != NO_INDEX)
			w->in_pool[t->pool]++;
		w->n_running += !t->hosts;
	}
	for (; at < s->n_ran; at++)
		ended(w, s->order[end[at].value]);
	free(end);
	return 0;
}

/* The path: what the end of the build waited for */

/* The last to end inside a task, inside that ...; kept, as the way may be long. */
static uint32_t innermost(struct work *w, uint32_t i)
{
	uint32_t leaf = i;

	while (w->inside[leaf] != NO_INDEX)
		leaf = w->inside[leaf];
	while (i != leaf) {
		uint32_t next = w->inside[i];

		w->inside[i] = leaf;
		i = next;
	}
	return leaf;
}

/* place: of each task in the order. A path that would not lead back ends. */
static uint32_t step_back(struct work *w, const uint32_t *place, uint32_t i, uint8_t *why)
{
	for (uint32_t at = i, leaf; w->c->before[at] != NO_INDEX; at = w->c->before[at]) {
		if (w->c->why[at] == WAIT_HOST)
			continue;
		leaf = innermost(w, w->c->before[at]);
		if (place[leaf] < place[i] &&
		    w->end_us[leaf] <= task(w, i)->start_us + CHAIN_STAMP_US) {
			*why = w->c->why[at];
			return leaf;
		}
	}
	*why = WAIT_NONE;
	return NO_INDEX;
}

static int find_path(struct work *w)
{
	const uint32_t *order = w->s->order;
	struct chain *c = w->c;
	uint32_t *place = indices(w->memory, w->s->rec->n_tasks), last = NO_INDEX;

	c->path = indices(NULL, w->s->n_ran);
	c->path_why = calloc(w->s->n_ran + 1, 1);
	c->path_link = calloc(w->s->n_ran + 1, 1);
	if (!place || !c->path || !c->path_why || !c->path_link)
		return -ENOMEM;
	for (size_t i = 0; i < w->s->n_ran; i++) {
		place[order[i]] = (uint32_t)i;
		if (!task(w, order[i])->hosts)
			latest(w, &last, order[i]);
	}
	for (uint32_t i = last; i != NO_INDEX; c->n_path++) {
		c->path[c->n_path] = i;
		c->path_us = sat_add(c->path_us, w->end_us[i] - task(w, i)->start_us);
		i = step_back(w, place, i, &c->path_why[c->n_path]);
	}
	for (size_t i = 0; i < c->n_path / 2; i++) {
		size_t mirror = c->n_path - 1 - i;
		uint32_t t = c->path[i];
		uint8_t why = c->path_why[i];

		c->path[i] = c->path[mirror];
		c->path[mirror] = t;
		c->path_why[i] = c->path_why[mirror];
		c->path_why[mirror] = why;
	}
	return 0;
}

/* 0 or -ENOMEM; *n: how many recipes there are. */
static int number_recipes(struct work *w, size_t *n)
{
	const struct recording *rec = w->s->rec;
	struct name_table t = NAME_TABLE_INIT;
	int r = 0;

	w->of_key = indices(w->memory, rec->n_tasks);
	for (size_t i = 0; !r && w->of_key && i < rec->n_tasks; i++)
		r = name_table_add(&t, slice_of(rec->task[i].key), &w->of_key[i]);
	*n = t.n;
	name_table_release(&t);
	return w->of_key ? r : -ENOMEM;
}

static int allocate(struct work *w)
{
	const struct recording *rec = w->s->rec;
	size_t n_recipes = 0;

	if (!w->memory || (rec->source.recipe_keys && number_recipes(w, &n_recipes)))
		return -ENOMEM;
	w->end_us = chain_zeros(w->memory, rec->n_tasks, sizeof *w->end_us);
	w->of_target = indices(w->memory, w->s->n_targets);
	w->of_instance = indices(w->memory, rec->n_instances);
	w->of_recipe = indices(w->memory, n_recipes);
	w->inside = indices(w->memory, rec->n_tasks);
	w->sibling = indices(w->memory, rec->n_instances);
	w->running = chain_zeros(w->memory, rec->n_instances, sizeof *w->running);
	w->of_pool = indices(w->memory, rec->n_pools);
	w->in_pool = chain_zeros(w->memory, rec->n_pools, sizeof *w->in_pool);
	w->first_seen = chain_zeros(w->memory, rec->n_instances, sizeof *w->first_seen);
	w->begun = chain_zeros(w->memory, rec->n_tasks, sizeof *w->begun);
	w->ended = chain_zeros(w->memory, rec->n_tasks, sizeof *w->ended);
	w->workers = count_workers(w->s);
	w->c->before = indices(NULL, rec->n_tasks);
	w->c->why = calloc(rec->n_tasks + 1, 1);
	w->c->maker = indices(NULL, rec->n_after);
	w->c->other_file = calloc(rec->n_after + 1, sizeof *w->c->other_file);
	w->c->ready_us = malloc((rec->n_tasks + 1) * sizeof *w->c->ready_us);
	if (w->c->ready_us)
		memset(w->c->ready_us, 0xff, (rec->n_tasks + 1) * sizeof *w->c->ready_us);
	return w->end_us && w->of_target && w->of_instance && w->of_recipe && w->inside &&
	       w->sibling && w->running && w->of_pool && w->in_pool && w->first_seen &&
	       w->begun && w->ended &&
	       w->c->before && w->c->why && w->c->maker && w->c->ready_us &&
	       w->c->other_file ? 0 : -ENOMEM;
}

/* Whether b is a line of the same recipe as a, right after it. */
static bool is_next_line(const struct work *w, uint32_t a, uint32_t b)
{
	return w->c->why[b] == WAIT_LINE && w->c->before[b] == a &&
	       w->s->nest[a].target == w->s->nest[b].target;
}

static void finish(struct work *w)
{
	struct chain *c = w->c;

	for (size_t i = 0; !c->has_dependencies && i < w->s->n_ran; i++) {
		uint8_t *why = &c->why[w->s->order[i]];

		*why = *why == WAIT_WORKER ? WAIT_UNKNOWN : *why;
	}
	for (size_t i = 0; i < c->n_path; i++) {
		if (!c->has_dependencies && c->path_why[i] == WAIT_WORKER)
			c->path_why[i] = WAIT_UNKNOWN;
		c->path_link[i] = i && is_next_line(w, c->path[i - 1], c->path[i]) ?
			c->path_link[i - 1] : chain_link(c->path_why[i]);
		c->n_link[c->path_link[i]]++;
	}
}

int chain_make(struct chain *c, const struct summary *s)
{
	struct work w = {
		.s = s, .c = c, .memory = arena_new(), .of_top = NO_INDEX, .of_all = NO_INDEX,
	};
	int r;

	*c = (struct chain){ 0 };
	r = allocate(&w);
	if (!r)
		r = chain_names_make(&w.names, s, w.memory);
	if (!r)
		r = sweep(&w);
	if (!r)
		r = find_path(&w);
	if (!r)
		r = chain_bound_fill(c, s);
	if (!r)
		finish(&w);
	arena_free(w.memory);
	return r;
}

void chain_release(struct chain *c)
{
	free(c->before);
	free(c->why);
	free(c->ready_us);
	free(c->path);
	free(c->path_why);
	free(c->path_link);
	free(c->dependency);
	free(c->maker);
	free(c->other_file);
	*c = (struct chain){ 0 };
}
