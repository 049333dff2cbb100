/* SPDX-License-Identifier: MIT */
#include "rerun/simulate.h"

#include "base/array.h"
#include "base/minmax.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEVELS 6		/* of 64 each: all that fit into 32 bits */

/* The ready tasks by rank: a bit each, and a bit for each word that is not 0 in the level above. */
struct ready {
	size_t n_levels;
	uint64_t *level[LEVELS];
};

/* What ends at a time, the first in front; of one time, in the order in which it was added. */
struct pending {
	double at;
	uint32_t order, node;
};

struct queue {
	size_t n, cap;
	struct pending *item;
};

struct worker_use {
	uint32_t running;	/* with a worker: the first of them with its own */
	uint32_t n_ready;
	uint32_t next_rank;	/* make looks at what comes behind the last one that it started */
	double free_us;		/* it can start the next task */
};

struct scope {
	int64_t spare;		/* workers that its instances share; may be below 0 */
	uint32_t first_active;	/* instances with ready tasks: a list by next_active */
	bool dirty;		/* perhaps one of these can start */
};

struct sim {
	const struct rerun_model *m;
	struct rerun_run *run;
	double cores;
	double now_us;
	double work_us;		/* what a thread got that computed since the beginning */
	double computing;	/* threads */
	struct queue waiting, working;	/* by time; by work */
	uint32_t order;
	int32_t *left;		/* for how many nodes each one waits still; below 0: it began without them */
	struct ready ready;
	struct worker_use *instance;
	struct scope *scope;
	uint32_t *next_active, *active_before;	/* of each instance */
	int64_t *pool_left;
	uint32_t *pool_first, *pool_last, *pool_next;	/* tasks that wait for each pool, by rank */
	uint32_t *todo;		/* nodes that have ended: a stack */
	size_t n_todo;
	uint32_t *dirty;	/* scopes: a stack */
	size_t n_dirty;
	int64_t running;
	uint64_t kb;
	uint32_t ended;		/* the node that ended last */
	uint32_t gave;		/* and the one that gave a worker or a place in a pool back */
	bool all_ended;
	int error;
};

/* Ready tasks */

static int ready_make(struct ready *r, size_t n)
{
	do {
		n = n / 64 + 1;
		r->level[r->n_levels] = array_new_zero(n, sizeof(uint64_t));
		if (!r->level[r->n_levels++])
			return -ENOMEM;
	} while (n > 1);
	return 0;
}

static void ready_add(struct ready *r, uint32_t rank)
{
	for (size_t l = 0; l < r->n_levels; l++, rank /= 64)
		r->level[l][rank / 64] |= UINT64_C(1) << rank % 64;
}

static void ready_remove(struct ready *r, uint32_t rank)
{
	for (size_t l = 0; l < r->n_levels; l++, rank /= 64) {
		r->level[l][rank / 64] &= ~(UINT64_C(1) << rank % 64);
		if (r->level[l][rank / 64])
			return;
	}
}

/* The first one from `rank` on; UINT32_MAX if there is none. */
static uint32_t ready_from(const struct ready *r, uint32_t rank)
{
	size_t l = 0;

	for (;; l++, rank = rank / 64 + 1) {
		uint64_t word;

		if (l == r->n_levels || (l + 1 == r->n_levels && rank >= 64))
			return UINT32_MAX;
		word = rank % 64 ? r->level[l][rank / 64] >> rank % 64 << rank % 64 : r->level[l][rank / 64];
		if (word) {
			rank = rank / 64 * 64 + (uint32_t)__builtin_ctzll(word);
			break;
		}
	}
	while (l--)
		rank = rank * 64 + (uint32_t)__builtin_ctzll(r->level[l][rank]);
	return rank;
}

/* What is pending */

static bool comes_before(const struct pending *a, const struct pending *b)
{
	return a->at != b->at ? a->at < b->at : a->order < b->order;
}

static void queue_add(struct sim *s, struct queue *q, double when, uint32_t node)
{
	struct pending *room = array_make_room(q->item, &q->cap, q->n, sizeof *room);
	struct pending added = { when, s->order++, node };
	size_t i;

	if (!room) {
		s->error = -ENOMEM;
		return;
	}
	q->item = room;
	for (i = q->n++; i && comes_before(&added, &q->item[(i - 1) / 2]); i = (i - 1) / 2)
		q->item[i] = q->item[(i - 1) / 2];
	q->item[i] = added;
}

static uint32_t queue_take(struct queue *q)
{
	uint32_t node = q->item[0].node;
	struct pending moved = q->item[--q->n];
	size_t i = 0;

	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= q->n)
			break;
		if (child + 1 < q->n && comes_before(&q->item[child + 1], &q->item[child]))
			child++;
		if (!comes_before(&q->item[child], &moved))
			break;
		q->item[i] = q->item[child];
		i = child;
	}
	if (q->n)
		q->item[i] = moved;
	return node;
}

/* Nodes begin and end */

static void end_node(struct sim *s, uint32_t i)
{
	s->todo[s->n_todo++] = i;
}

/* Its waiting is over. */
static void compute(struct sim *s, uint32_t i)
{
	const struct rerun_node *n = &s->m->node[i];

	if (n->kind == RERUN_HOST || n->cpu_us <= 0) {
		end_node(s, i);
		return;
	}
	s->computing += (double)n->threads;
	queue_add(s, &s->working, s->work_us + n->cpu_us, i);
}

static void begin(struct sim *s, uint32_t i)
{
	const struct rerun_node *n = &s->m->node[i];
	double start_us = s->now_us;

	if (n->host_us > 0) {
		struct worker_use *in = &s->instance[n->instance];

		start_us = MAX(in->free_us, s->now_us) + (double)n->host_us;
		in->free_us = start_us;
	}
	if (s->run->start_us) {
		/* it may have been ready for long */
		if (s->run->start_us[i] >= 0 && s->run->start_us[i] < s->now_us && s->gave != NO_INDEX) {
			s->run->because[i] = s->gave;
			s->run->for_worker[i] = true;
		}
		s->run->start_us[i] = start_us;
	}
	s->run->cpu_us += n->kind == RERUN_HOST ? 0 : n->cpu_us * (double)n->threads;
	if (n->kind == RERUN_TASK) {
		s->running++;
		s->run->running_most = MAX(s->running, s->run->running_most);
		s->kb += n->kb;
		if (s->kb > s->run->kb_most) {
			s->run->kb_most = s->kb;
			s->run->kb_most_us = start_us;
		}
	}
	if (start_us + n->wait_us > s->now_us)
		queue_add(s, &s->waiting, start_us + n->wait_us, i);
	else
		compute(s, i);
}

/* Workers */

static void activate(struct sim *s, uint32_t instance)
{
	struct scope *scope = &s->scope[s->m->instance[instance].scope];
	uint32_t first = scope->first_active;

	s->next_active[instance] = first;
	s->active_before[instance] = NO_INDEX;
	if (first != NO_INDEX)
		s->active_before[first] = instance;
	scope->first_active = instance;
}

static void deactivate(struct sim *s, uint32_t instance)
{
	struct scope *scope = &s->scope[s->m->instance[instance].scope];
	uint32_t next = s->next_active[instance], before = s->active_before[instance];

	if (before == NO_INDEX)
		scope->first_active = next;
	else
		s->next_active[before] = next;
	if (next != NO_INDEX)
		s->active_before[next] = before;
}

static void look_at(struct sim *s, uint32_t scope)
{
	if (!s->scope[scope].dirty)
		s->dirty[s->n_dirty++] = scope;
	s->scope[scope].dirty = true;
}

static void add_ready(struct sim *s, uint32_t i)
{
	const struct rerun_node *n = &s->m->node[i];

	ready_add(&s->ready, n->rank);
	if (!s->instance[n->instance].n_ready++)
		activate(s, n->instance);
	look_at(s, s->m->instance[n->instance].scope);
}

/* The ready task that an instance starts next. */
static uint32_t next_of(const struct sim *s, uint32_t instance)
{
	const struct rerun_instance *in = &s->m->instance[instance];
	uint32_t rank = UINT32_MAX;

	if (in->passes)
		rank = ready_from(&s->ready, s->instance[instance].next_rank);
	if (rank == UINT32_MAX || rank >= in->first_rank + in->n_ranks)
		rank = ready_from(&s->ready, in->first_rank);
	return rank;
}

static void take_ready(struct sim *s, uint32_t instance, uint32_t rank)
{
	ready_remove(&s->ready, rank);
	if (!--s->instance[instance].n_ready)
		deactivate(s, instance);
}

/* A task whose pool is full waits for it without a worker. */
static bool enters_pool(struct sim *s, uint32_t i)
{
	uint32_t pool = s->m->node[i].pool;

	if (pool == NO_INDEX || s->pool_left[pool]-- > 0)
		return true;
	s->pool_left[pool]++;
	s->pool_next[i] = NO_INDEX;
	if (s->pool_first[pool] == NO_INDEX)
		s->pool_first[pool] = i;
	else
		s->pool_next[s->pool_last[pool]] = i;
	s->pool_last[pool] = i;
	return false;
}

static void leave_pool(struct sim *s, uint32_t i)
{
	uint32_t pool = s->m->node[i].pool, next;

	if (pool == NO_INDEX)
		return;
	s->pool_left[pool]++;
	next = s->pool_first[pool];
	if (next == NO_INDEX)
		return;
	s->pool_first[pool] = s->pool_next[next];
	add_ready(s, next);
}

/* Start what there are workers for: of several instances the task that was first in the recording. */
static void start_ready(struct sim *s, uint32_t scope_of)
{
	const struct rerun_model *m = s->m;
	struct scope *scope = &s->scope[scope_of];

	while (!s->error) {
		uint32_t best = NO_INDEX, best_in = NO_INDEX, node;

		for (uint32_t in = scope->first_active; in != NO_INDEX; in = s->next_active[in]) {
			uint32_t rank;

			if (s->instance[in].running && scope->spare <= 0)
				continue;
			rank = next_of(s, in);
			if (best == NO_INDEX || m->place[m->of_rank[rank]] < m->place[m->of_rank[best]]) {
				best = rank;
				best_in = in;
			}
		}
		if (best == NO_INDEX)
			return;
		take_ready(s, best_in, best);
		node = m->of_rank[best];
		if (!enters_pool(s, node))
			continue;
		scope->spare -= s->instance[best_in].running++ > 0;
		s->instance[best_in].next_rank = best + 1;
		begin(s, node);
	}
}

static void give_back(struct sim *s, uint32_t i)
{
	const struct rerun_node *n = &s->m->node[i];
	struct worker_use *in = &s->instance[n->instance];

	leave_pool(s, i);
	if (n->keeps)
		return;
	s->gave = i;
	if (in->running && --in->running)
		s->scope[s->m->instance[n->instance].scope].spare++;
	look_at(s, s->m->instance[n->instance].scope);
}

static void become_ready(struct sim *s, uint32_t i)
{
	const struct rerun_node *n = &s->m->node[i];

	if (s->run->start_us) {
		s->run->start_us[i] = s->now_us;
		s->run->because[i] = s->ended;
	}
	if (n->kind == RERUN_JOINT) {
		end_node(s, i);
	} else if (n->kind == RERUN_SERIAL || n->goes_on) {
		begin(s, i);
	} else {
		add_ready(s, i);
	}
}

/* All that has ended, and what follows it at once; then what there are workers for. */
static void settle(struct sim *s)
{
	while ((s->n_todo || s->n_dirty) && !s->error) {
		while (s->n_todo) {
			uint32_t i = s->todo[--s->n_todo];
			const struct rerun_node *n = &s->m->node[i];

			s->ended = i;
			s->all_ended |= i == s->m->end;
			if (s->run->end_us)
				s->run->end_us[i] = s->now_us;
			if (n->kind == RERUN_TASK) {
				s->running--;
				s->kb -= n->kb;
				give_back(s, i);
			} else if (n->host != NO_INDEX) {
				give_back(s, n->host);
			}
			for (uint32_t k = s->m->first_next[i]; k < s->m->first_next[i + 1]; k++) {
				if (s->left[s->m->next[k]] > 0 && !--s->left[s->m->next[k]])
					become_ready(s, s->m->next[k]);
			}
		}
		while (s->n_dirty) {
			uint32_t scope = s->dirty[--s->n_dirty];

			s->scope[scope].dirty = false;
			start_ready(s, scope);
		}
	}
}

/* The whole build */

/* The next time at which something ends. False if there is none. */
static bool advance(struct sim *s)
{
	double share = s->cores > 0 && s->computing > s->cores ? s->cores / s->computing : 1;
	double wait_us = s->waiting.n ? s->waiting.item[0].at : INFINITY;
	double work_us = INFINITY;

	if (s->working.n)
		work_us = s->now_us + MAX(s->working.item[0].at - s->work_us, 0) / share;
	if (!s->waiting.n && !s->working.n)
		return false;
	if (wait_us <= work_us) {
		s->work_us += (wait_us - s->now_us) * share;
		s->now_us = wait_us;
		compute(s, queue_take(&s->waiting));
	} else {
		uint32_t i;

		s->work_us = MAX(s->working.item[0].at, s->work_us);
		s->now_us = work_us;
		i = queue_take(&s->working);
		s->computing = s->working.n ? s->computing - (double)s->m->node[i].threads : 0;
		end_node(s, i);
	}
	return true;
}

/* The times of damaged recordings can contradict each other, so that tasks wait in a circle: the first of
 * them begins. */
static bool break_circle(struct sim *s, size_t *at)
{
	const struct summary *sum = s->m->s;

	for (; *at < sum->n_ran; ++*at) {
		uint32_t i = s->m->of_task[sum->order[*at]];

		if (s->left[i] > 0) {
			s->left[i] = INT32_MIN;
			become_ready(s, i);
			return true;
		}
	}
	return false;
}

static int make_arrays(struct sim *s, bool times)
{
	const struct rerun_model *m = s->m;
	size_t n = m->n, n_instances = m->n_instances;

	s->left = array_new(n + 1, sizeof *s->left);
	s->todo = array_new(n + 1, sizeof *s->todo);
	s->instance = array_new_zero(n_instances + 1, sizeof *s->instance);
	s->scope = array_new_zero(n_instances + 1, sizeof *s->scope);
	s->dirty = array_new(n_instances + 1, sizeof *s->dirty);
	s->next_active = array_new(n_instances + 1, sizeof *s->next_active);
	s->active_before = array_new(n_instances + 1, sizeof *s->active_before);
	s->pool_left = array_new(m->n_pools + 1, sizeof *s->pool_left);
	s->pool_first = array_new(m->n_pools + 1, sizeof *s->pool_first);
	s->pool_last = array_new(m->n_pools + 1, sizeof *s->pool_last);
	s->pool_next = m->n_pools ? array_new(n + 1, sizeof *s->pool_next) : NULL;
	if (times) {
		s->run->start_us = array_new(n + 1, sizeof *s->run->start_us);
		s->run->end_us = array_new(n + 1, sizeof *s->run->end_us);
		s->run->because = array_new(n + 1, sizeof *s->run->because);
		s->run->for_worker = array_new_zero(n + 1, sizeof *s->run->for_worker);
	}
	if (!s->left || !s->todo || !s->instance || !s->scope || !s->dirty || !s->next_active || !s->active_before ||
	    !s->pool_left || !s->pool_first || !s->pool_last || (m->n_pools && !s->pool_next) ||
	    (times && (!s->run->start_us || !s->run->end_us || !s->run->because || !s->run->for_worker)))
		return -ENOMEM;
	return ready_make(&s->ready, m->n_ranks + 1);
}

static void set_up(struct sim *s, const struct rerun_conditions *c)
{
	const struct rerun_model *m = s->m;

	memcpy(s->left, m->n_waits, m->n * sizeof *s->left);
	for (size_t i = 0; s->run->start_us && i < m->n; i++) {
		s->run->start_us[i] = s->run->end_us[i] = -1;
		s->run->because[i] = NO_INDEX;
	}
	for (size_t i = 0; i < m->n_instances; i++) {
		const struct rerun_instance *in = &m->instance[i];
		int64_t jobs = c->jobs > 0 && !in->given ? c->jobs : in->jobs;

		s->scope[i] = (struct scope){ .spare = MAX(jobs, 1) - 1, .first_active = NO_INDEX };
		s->instance[i].next_rank = in->first_rank;
	}
	for (size_t i = 0; i < m->n_pools; i++) {
		s->pool_left[i] = MAX(m->s->rec->pool[i].depth, 1);
		s->pool_first[i] = NO_INDEX;
	}
	s->cores = c->cores;
}

int rerun_simulate(struct rerun_run *r, const struct rerun_model *m, const struct rerun_conditions *c,
		    bool times)
{
	struct sim s = { .m = m, .run = r, .ended = NO_INDEX, .gave = NO_INDEX };
	size_t at = 0;

	*r = (struct rerun_run){ 0 };
	s.error = make_arrays(&s, times);
	if (!s.error) {
		set_up(&s, c);
		become_ready(&s, m->start);
		settle(&s);
	}
	while (!s.error && !s.all_ended) {
		if (!advance(&s) && !break_circle(&s, &at))
			break;
		settle(&s);
	}
	r->wall_us = (int64_t)llround(s.now_us);
	for (size_t i = 0; i < ARRAY_SIZE(s.ready.level); i++)
		free(s.ready.level[i]);
	free_all(s.left, s.todo, s.instance, s.scope, s.dirty, s.next_active, s.active_before, s.pool_left,
		 s.pool_first, s.pool_last, s.pool_next, s.waiting.item, s.working.item);
	return s.error;
}

void rerun_run_release(struct rerun_run *r)
{
	free_all(r->start_us, r->end_us, r->because, r->for_worker);
	*r = (struct rerun_run){ 0 };
}
