/* SPDX-License-Identifier: MIT */
#include "analyse/wait.h"

#include "analyse/wait_room.h"
#include "base/arena.h"
#include "base/array.h"
#include "base/minmax.h"
#include "base/name_table.h"
#include "base/sort.h"
#include "recording/event.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *const wait_word[WAITS] = {
	[WAIT_NONE] = "nothing", [WAIT_TARGET] = "target", [WAIT_LINE] = "line",
	[WAIT_HOST] = "host", [WAIT_WORKER] = "worker",
	[WAIT_UNKNOWN] = "unknown", [WAIT_SHELL] = "shell",
	[WAIT_POOL] = "pool", [WAIT_LOAD] = "load", [WAIT_ORDER] = "order",
};

struct work {
	const struct summary *s;
	struct waits *waits;
	struct needs_sweep *needs;
	struct wait_room room;
	struct arena *memory;		/* of all arrays */
	uint32_t *of_key;		/* OpenEmbedded: number of each task's recipe */
	int64_t *end_us;		/* of each task */
	bool *knows;			/* of each instance: tasks that waited for none are known */
	/* The tasks that ended last, of those that ended so far: */
	uint32_t *of_target, *of_instance, *of_shell, *of_scope, *of_recipe, *inside, *of_pool;
	uint32_t of_top;		/* of those that run in no task */
	uint32_t *of_first;		/* of each target: the task that began its newest rule */
	uint32_t *running;		/* of each scope: tasks that host none */
	uint32_t *sibling;		/* of each instance, when it began; see first_seen */
	bool *first_seen;
	bool *begun, *ended;		/* the tasks before, of each task */
};

static const struct task *task(const struct work *w, uint32_t i)
{
	return &w->s->rec->task[i];
}

static uint32_t *indices(struct arena *memory, size_t n)
{
	uint32_t *p = arena_alloc(memory, (n + 1) * sizeof *p);

	return p ? memset(p, 0xff, (n + 1) * sizeof *p) : NULL;
}

static void latest(const struct work *w, uint32_t *last, uint32_t i)
{
	if (*last == NO_INDEX || w->end_us[i] >= w->end_us[*last])
		*last = i;
}

static uint32_t later_of(const struct work *w, uint32_t a, uint32_t b)
{
	if (a == NO_INDEX || b == NO_INDEX)
		return a == NO_INDEX ? b : a;
	return w->end_us[b] > w->end_us[a] ? b : a;
}

static void ended(struct work *w, uint32_t i)
{
	const struct task *t = task(w, i);
	const struct nesting *nest = &w->s->nest[i];
	bool shell = task_is_shell(t);

	w->ended[i] = true;
	needs_ended(w->needs, i);
	latest(w, &w->of_target[nest->target], i);
	latest(w, shell ? &w->of_shell[t->instance] : &w->of_instance[t->instance], i);
	if (!shell && !t->hosts) {
		latest(w, &w->of_scope[w->room.scope[t->instance]], i);
		w->running[w->room.scope[t->instance]]--;
	}
	if (t->pool != NO_INDEX)
		latest(w, &w->of_pool[t->pool], i);
	if (w->of_key)
		latest(w, &w->of_recipe[w->of_key[i]], i);
	latest(w, nest->parent != NO_INDEX ? &w->inside[nest->parent] : &w->of_top, i);
}

static bool is_wait(const char *name)
{
	return *name == '.' && !strncmp(name, EVENT_WAIT_PREFIX, strlen(EVENT_WAIT_PREFIX));
}

/*
 * If a task of a host inside one of its tasks made a target, the target counts as made when the
 * outer task had ended. waits: of what comes before it only because of .WAIT and the like.
 */
static uint32_t last_target(const struct work *w, const struct task *t, bool waits)
{
	uint32_t last = NO_INDEX;

	for (size_t k = t->first_after; k < (size_t)t->first_after + t->n_after; k++) {
		uint32_t made = needs_within(w->s, w->waits->needs.maker[k], t->instance);

		if (made != NO_INDEX && w->ended[made] && is_wait(w->s->rec->after[k]) == waits)
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
	int64_t slack_us = w->of_key ? WAIT_SLACK_OE_US : WAIT_SLACK_US;

	return before != NO_INDEX && w->end_us[before] >= t->start_us - slack_us;
}

/* Recipes and rules */

/* The tasks for the members of an archive have its name, and each waited for something else. */
static bool is_other_member(const struct recording *rec, const struct task *a, const struct task *b)
{
	size_t len = strlen(a->name);

	return len > 2 && !strcmp(a->name + len - 2, ".a") && a->n_after && b->n_after && (a->n_after != b->n_after ||
					    strcmp(rec->after[a->first_after], rec->after[b->first_after]));
}

/*
 * The line before a task in its recipe, or the last one of the rule before that, if its target has
 * several with double colons. Members of an archive wait for nothing of each other. Tasks
 * without a name and those of $(shell) belong to no recipe.
 */
static void find_lines(struct work *w, uint32_t i)
{
	const struct task *t = task(w, i), *begun;
	struct wait_task *wait = &w->waits->task[i];
	uint32_t target = w->s->nest[i].target, first = w->of_first[target];

	if (!*t->name || task_is_shell(t))
		return;
	begun = first == NO_INDEX ? t : task(w, first);
	if (first == NO_INDEX || needs_other_rule(t, begun)) {
		wait->order = w->of_target[target];
		w->of_first[target] = i;
	} else if (!is_other_member(w->s->rec, t, begun)) {
		wait->line = w->of_target[target];
	}
}

static void find_order(struct work *w, uint32_t i)
{
	const struct task *t = task(w, i);
	struct wait_task *wait = &w->waits->task[i];
	uint32_t target = needs_order(w->needs, i);

	if (task_is_shell(t) || wait->line != NO_INDEX)
		return;
	if (target != NO_INDEX)
		wait->order = later_of(w, wait->order, w->of_target[target]);
	wait->order = later_of(w, wait->order, last_target(w, t, true));
	if (w->s->rec->instance[t->instance].serial)
		wait->order = later_of(w, wait->order, w->of_instance[t->instance]);
}

/* Why */

/* What a task waited for last, so far. */
struct last {
	uint32_t before;
	enum wait why;
	int64_t end_us;
};

static void if_later(struct last *l, enum wait why, uint32_t before, int64_t end_us)
{
	if (before != NO_INDEX && end_us >= l->end_us)
		*l = (struct last){ before, why, end_us };
}

/* What has to happen before it with any number of workers. *known: something has. */
static struct last find_dependency(struct work *w, uint32_t i, bool *known)
{
	const struct task *t = task(w, i);
	uint32_t target = last_target(w, t, false), line = w->waits->task[i].line;
	uint32_t sibling = last_of_sibling(w, i), parent = w->s->nest[i].parent;
	struct last l = { NO_INDEX, WAIT_NONE, w->s->rec->instance[t->instance].open_us };

	if (parent != NO_INDEX && w->begun[parent])
		l = (struct last){ parent, WAIT_HOST, l.end_us };
	if (sibling != NO_INDEX)
		l = (struct last){ sibling, WAIT_LINE, l.end_us };
	if (target != NO_INDEX)
		if_later(&l, WAIT_TARGET, target, w->end_us[target]);
	if (line != NO_INDEX)
		if_later(&l, WAIT_LINE, line, w->end_us[line]);
	*known = target != NO_INDEX || line != NO_INDEX;
	return l;
}

/* It began only after the task was ready; or the host cannot have been so slow. */
static bool is_kept(const struct work *w, uint32_t other, int64_t ready_us, const struct task *t)
{
	return other != NO_INDEX && w->end_us[other] > ready_us &&
	       (task(w, other)->start_us >= ready_us - WAIT_STAMP_US ||
		t->start_us - ready_us > WAIT_REACTION_US);
}

/* Did it end so late, or did the host do nothing since? */
static bool is_recent(const struct work *w, int64_t end_us, const struct task *t)
{
	return t->start_us - end_us <= WAIT_SLACK_US || !w->running[w->room.scope[t->instance]];
}

/* The next line of a recipe follows at once, unless something else ran between them. */
static bool is_next_line(const struct work *w, uint32_t line, uint32_t worker)
{
	return line != NO_INDEX && (worker == NO_INDEX || worker == line ||
				    task(w, worker)->start_us < w->end_us[line]);
}

/* Without this, what was waited for is not the reason: it was over as soon as the task was ready. */
static void drop_unless(bool kept, int64_t us[QUEUE_CAUSES], enum queue_cause cause)
{
	if (kept)
		return;
	us[QUEUE_OTHER] += us[cause];
	us[cause] = 0;
}

/* A command of $(shell): make runs it while it reads its files or before a recipe. */
static struct last last_of_shell(const struct work *w, uint32_t i, struct last l)
{
	const struct task *t = task(w, i);
	uint32_t shell = w->of_shell[t->instance], other = w->of_instance[t->instance];

	if (shell != NO_INDEX)
		if_later(&l, WAIT_SHELL, shell, w->end_us[shell]);
	if (other != NO_INDEX && is_recent(w, w->end_us[other], t))
		if_later(&l, WAIT_UNKNOWN, other, w->end_us[other]);
	return l;
}

/* The rest of the time has no cause of its own. */
static struct last last_unexplained(const struct work *w, uint32_t i, const int64_t *us,
				    struct last l, uint32_t worker)
{
	const struct task *t = task(w, i);
	uint32_t shell = w->of_shell[t->instance];

	if (us[QUEUE_LOAD]) {
		if_later(&l, WAIT_LOAD, worker, worker == NO_INDEX ? 0 : w->end_us[worker]);
		return l;
	}
	if (us[QUEUE_DELAYED] && shell != NO_INDEX)
		if_later(&l, WAIT_SHELL, shell, w->end_us[shell]);
	if (us[QUEUE_OTHER] > WAIT_REACTION_US && worker != NO_INDEX &&
	    is_recent(w, w->end_us[worker], t) &&
	    w->end_us[worker] > l.end_us + WAIT_REACTION_US)
		if_later(&l, WAIT_UNKNOWN, worker, w->end_us[worker]);
	return l;
}

static struct last decide(struct work *w, uint32_t i, int64_t us[QUEUE_CAUSES], bool *known)
{
	const struct task *t = task(w, i);
	int64_t until_us[QUEUE_CAUSES] = { 0 };
	struct last l = find_dependency(w, i, known);
	uint32_t order = w->waits->task[i].order, line = w->waits->task[i].line, pool, worker;
	int64_t ready_us = l.end_us;
	bool next;

	if (task_is_shell(t))
		return last_of_shell(w, i, l);
	if (!*known && t->queued_us >= 0)
		ready_us = MIN(t->queued_us, t->start_us);
	if (ready_us > t->start_us)
		ready_us = t->start_us;
	wait_room_split(&w->room, i, ready_us, order == NO_INDEX ? -1 : w->end_us[order], us, until_us);
	pool = t->pool == NO_INDEX ? NO_INDEX : w->of_pool[t->pool];
	worker = later_of(w, w->of_instance[t->instance], w->of_scope[w->room.scope[t->instance]]);
	next = is_next_line(w, line, w->of_instance[t->instance]);
	drop_unless(!next && is_kept(w, pool, ready_us, t), us, QUEUE_POOL);
	drop_unless(!next && is_kept(w, worker, ready_us, t), us, QUEUE_WORKER);
	if (us[QUEUE_ORDER])
		if_later(&l, WAIT_ORDER, order, until_us[QUEUE_ORDER]);
	if (us[QUEUE_WORKER] && is_recent(w, until_us[QUEUE_WORKER], t))
		if_later(&l, WAIT_WORKER, worker, MIN(until_us[QUEUE_WORKER], w->end_us[worker]));
	if (us[QUEUE_POOL] && is_recent(w, until_us[QUEUE_POOL], t))
		if_later(&l, WAIT_POOL, pool, MIN(until_us[QUEUE_POOL], w->end_us[pool]));
	return last_unexplained(w, i, us, l, worker);
}

/* OpenEmbedded records no targets, but the tasks of a recipe run one after the other. A
 * task that began long after the previous one waited for another recipe, so when it was ready is not known. */
static struct last decide_recipe(struct work *w, uint32_t i, int64_t us[QUEUE_CAUSES], bool *known)
{
	const struct task *t = task(w, i);
	uint32_t of_recipe = w->of_recipe[w->of_key[i]], of_worker = w->of_instance[t->instance];
	int64_t until_us[QUEUE_CAUSES] = { 0 }, ready_us = w->s->rec->instance[t->instance].open_us;

	*known = just_ended(w, of_recipe, t);
	if (*known)
		ready_us = w->end_us[of_recipe];
	else if (t->queued_us >= 0)
		ready_us = t->queued_us;
	ready_us = MIN(ready_us, t->start_us);
	wait_room_split(&w->room, i, ready_us, -1, us, until_us);
	if (*known)
		return (struct last){ of_recipe, WAIT_ORDER, ready_us };
	if (just_ended(w, of_worker, t))
		return (struct last){ of_worker, WAIT_UNKNOWN, ready_us };
	return (struct last){ of_recipe, of_recipe == NO_INDEX ? WAIT_NONE : WAIT_ORDER, ready_us };
}

static void start_task(struct work *w, uint32_t i)
{
	const struct task *t = task(w, i);
	struct wait_task *wait = &w->waits->task[i];
	int64_t us[QUEUE_CAUSES] = { 0 };
	bool known = false;
	struct last last;

	needs_start(w->needs, i);
	find_lines(w, i);
	find_order(w, i);
	last = w->of_key ? decide_recipe(w, i, us, &known) : decide(w, i, us, &known);
	wait->before = last.before;
	wait->why = last.why;
	if (last.why == WAIT_WORKER && !w->waits->has_dependencies)
		wait->why = WAIT_UNKNOWN;
	w->begun[i] = true;
	w->running[w->room.scope[t->instance]] += !t->hosts && !task_is_shell(t);
	if (t->queued_us < 0 && (w->of_key || (!known && !w->knows[t->instance])))
		return;
	wait->ready_us = t->start_us;
	for (int k = 0; k < QUEUE_CAUSES; k++) {
		wait->us[k] = us[k];
		wait->ready_us -= us[k];
	}
}

/* The sweep */

/* When others may have waited for each task, by its place in the order. */
static struct keyed *ends_in_order(struct work *w)
{
	const struct summary *s = w->s;
	struct keyed *k = array_new(s->n_ran, sizeof *k);

	for (size_t i = 0; k && i < s->n_ran; i++) {
		const struct task *t = task(w, s->order[i]);
		int64_t end_us = recording_task_end_us(s->rec, t);
		int64_t free_us = end_us - WAIT_STAMP_US;

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
		int64_t now_us = task(w, s->order[i])->start_us;

		for (; end[at].key <= (uint64_t)now_us && end[at].value < (int64_t)i; at++)
			ended(w, s->order[end[at].value]);
		start_task(w, s->order[i]);
	}
	free(end);
	return 0;
}

/* If one make records what its tasks wait for, all do: those that record nothing, such as that
 * of GCC's link-time optimisation, have only tasks that wait for nothing. */
static void find_knowledge(struct work *w)
{
	const struct recording *rec = w->s->rec;
	bool known = false;

	for (size_t i = 0; i < rec->n_tasks; i++) {
		const struct task *t = &rec->task[i];

		if (!t->n_after && !*t->file)
			continue;
		w->knows[t->instance] = true;
		known |= rec->instance[t->instance].level >= 0;
		w->waits->has_dependencies |= !rec->source.recipe_keys;
	}
	for (size_t i = 0; known && i < rec->n_instances; i++)
		w->knows[i] |= rec->instance[i].level >= 0;
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
	size_t n_recipes = 0, n = rec->n_tasks, n_instances = rec->n_instances;

	w->memory = arena_new();
	if (!w->memory || (rec->source.recipe_keys && number_recipes(w, &n_recipes)))
		return -ENOMEM;
	w->of_recipe = indices(w->memory, n_recipes);
	w->of_target = indices(w->memory, w->s->n_targets);
	w->of_first = indices(w->memory, w->s->n_targets);
	w->of_instance = indices(w->memory, n_instances);
	w->of_shell = indices(w->memory, n_instances);
	w->of_scope = indices(w->memory, n_instances);
	w->of_pool = indices(w->memory, rec->n_pools);
	w->running = arena_alloc(w->memory, (n_instances + 1) * sizeof *w->running);
	w->sibling = indices(w->memory, n_instances);
	w->inside = indices(w->memory, n);
	w->first_seen = arena_alloc(w->memory, n_instances + 1);
	w->knows = arena_alloc(w->memory, n_instances + 1);
	w->begun = arena_alloc(w->memory, n + 1);
	w->ended = arena_alloc(w->memory, n + 1);
	w->end_us = arena_alloc(w->memory, (n + 1) * sizeof *w->end_us);
	w->waits->task = array_new(n + 1, sizeof *w->waits->task);
	if (!w->of_recipe || !w->of_target || !w->of_first || !w->of_instance || !w->of_shell ||
	    !w->of_scope || !w->running || !w->of_pool || !w->sibling || !w->inside || !w->first_seen || !w->knows ||
	    !w->begun || !w->ended || !w->end_us || !w->waits->task)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		w->waits->task[i] = (struct wait_task){ .ready_us = -1, .before = NO_INDEX,
			.line = NO_INDEX, .order = NO_INDEX };
	return 0;
}

static int keep_workers(struct work *w)
{
	size_t n = w->s->rec->n_instances;
	struct wait_workers *workers = array_new(n + 1, sizeof *workers);

	for (size_t i = 0; workers && i < n; i++) {
		uint32_t scope = w->room.scope[i];

		workers[i] = (struct wait_workers){ scope, w->room.workers[scope].limit };
	}
	w->waits->workers = workers;
	return workers ? 0 : -ENOMEM;
}

int wait_make(struct waits *waits, const struct summary *s)
{
	struct work w = { .s = s, .waits = waits, .of_top = NO_INDEX };
	int r;

	*waits = (struct waits){ 0 };
	r = allocate(&w);
	if (!r)
		find_knowledge(&w);
	if (!r)
		r = wait_room_make(&w.room, s);
	if (!r)
		r = keep_workers(&w);
	if (!r)
		r = needs_begin(&w.needs, &waits->needs, s);
	if (!r)
		r = sweep(&w);
	needs_end(w.needs);
	wait_room_release(&w.room);
	arena_free(w.memory);
	return r;
}

void wait_release(struct waits *w)
{
	free(w->task);
	free(w->workers);
	needs_release(&w->needs);
	*w = (struct waits){ 0 };
}

void wait_add_queues(struct summary *s, const struct waits *w)
{
	for (size_t i = 0; i < s->n_ran; i++) {
		struct cost *c = &s->nest[s->order[i]].cost;
		int64_t queue_us = wait_queue_us(w, s->rec, s->order[i]);

		if (queue_us < 0)
			continue;
		c->queue_us = queue_us;
		c->known |= 1u << VALUE_QUEUE;
	}
}

int wait_curve(struct curve *waiting, const struct summary *s, const struct waits *w)
{
	struct keyed *begin = array_new(s->n_ran, sizeof *begin);
	struct keyed *end = array_new(s->n_ran, sizeof *end);
	size_t n = 0;
	int r = -ENOMEM;

	for (size_t i = 0; begin && end && i < s->n_ran; i++) {
		int64_t ready_us = w->task[s->order[i]].ready_us;
		int64_t wait_us = wait_queue_us(w, s->rec, s->order[i]);

		if (wait_us <= WAIT_REACTION_US)
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
