/* SPDX-License-Identifier: MIT */
#include "compare/verdict_cause.h"

#include "base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

struct causes {
	struct verdict_groups *groups;
	uint32_t *cause;	/* of each group: an earlier one of its cause, or itself */
};

static const struct verdict_finding *whole(const struct causes *c, size_t i)
{
	return &c->groups->group[i].whole;
}

static uint32_t root(struct causes *c, uint32_t i)
{
	while (c->cause[i] != i)
		i = c->cause[i] = c->cause[c->cause[i]];
	return i;
}

/* The first group stands for all. */
static void join(struct causes *c, uint32_t a, uint32_t b)
{
	uint32_t x = root(c, a), y = root(c, b);

	if (x < y)
		c->cause[y] = x;
	else
		c->cause[x] = y;
}

/* The newest group of each task so far. */
static void join_tasks(struct causes *c, const struct verdict *v, uint32_t *of_task)
{
	for (uint32_t i = 0; i < c->groups->n; i++) {
		const struct verdict_group *g = &c->groups->group[i];

		for (size_t k = 0; k < g->n && g->whole.fails && g->whole.task < HISTORY_ALL; k++) {
			uint32_t task = v->finding[c->groups->member[g->first + k]].task;

			if (of_task[task] != NONE && verdict_meet(&g->whole, whole(c, of_task[task])))
				join(c, i, of_task[task]);
			of_task[task] = i;
		}
	}
}

static bool is_in(const struct builds *builds, const struct verdict_finding *f, uint32_t task)
{
	struct shared_group of[SHARED_MOST];
	size_t n = shared_of_task(of, builds, task);

	for (size_t i = 0; i < n; i++) {
		if (shared_is_same(builds, &of[i], &f->group))
			return true;
	}
	return false;
}

/* Whether what a group shares can be the cause of another change: that is of tasks that are in it. */
static bool explains(const struct verdict *v, const struct builds *builds, const struct verdict_finding *f,
		     const struct verdict_finding *of)
{
	uint32_t task = of->task == TASK_SHARED && of->n_moved ? v->moved[of->first_moved] : of->task;

	return task < builds->n_tasks && is_in(builds, f, task);
}

bool verdict_cause_shows(const struct verdict_finding *shared, const struct verdict_finding *f,
			 const struct builds *builds)
{
	return shared->task == TASK_SHARED && f->task < builds->n_tasks && f->metric == shared->metric &&
	       f->state == shared->state && f->worse == shared->worse && f->fails == shared->fails &&
	       verdict_meet(f, shared) && f->low <= shared->high && shared->low <= f->high &&
	       is_in(builds, shared, f->task);
}

/* The first group of tasks that shows what all members of a group do. */
static void find_like(struct causes *c, const struct verdict *v, const struct builds *builds)
{
	for (uint32_t k = c->groups->n; k-- > 0; ) {
		for (uint32_t i = 0; whole(c, k)->task == TASK_SHARED && i < c->groups->n; i++) {
			const struct verdict_group *g = &c->groups->group[i];
			size_t n = 0;

			while (n < g->n && verdict_cause_shows(whole(c, k), &v->finding[c->groups->member[g->first + n]], builds))
				n++;
			if (n == g->n)
				c->groups->like[i] = k;
		}
	}
}

/* What the tasks of a group share, and what some of them show alone; and both times of a group. */
static void join_shared(struct causes *c, const struct verdict *v, const struct builds *builds)
{
	for (uint32_t i = 0; i < c->groups->n; i++) {
		const struct verdict_finding *f = whole(c, i);

		for (uint32_t k = 0; k < c->groups->n && f->fails && f->task == TASK_SHARED; k++) {
			const struct verdict_group *g = &c->groups->group[k];
			const struct verdict_finding *of = &v->finding[c->groups->member[g->first]];

			if (i == k || !g->whole.fails || !verdict_meet(f, &g->whole))
				continue;
			if (explains(v, builds, f, of))
				join(c, i, k);
		}
	}
}

static void join_alike(struct causes *c, uint32_t task)
{
	for (uint32_t i = 0; i < c->groups->n; i++) {
		for (uint32_t k = 0; k < i && whole(c, i)->fails && whole(c, i)->task == task; k++) {
			if (whole(c, k)->fails && whole(c, k)->task == task && verdict_meet(whole(c, i), whole(c, k)))
				join(c, i, k);
		}
	}
}

/* The build belongs to one of the others, the largest: it does not make those one. */
static void join_total(struct causes *c, uint32_t total)
{
	const struct verdict_finding *f = whole(c, total);

	for (uint32_t i = 0; i < c->groups->n; i++) {
		const struct verdict_finding *g = whole(c, i);

		if (g->fails && g->task != TASK_TOTAL && verdict_meet(f, g) && metric_is_akin(g->metric, f->metric)) {
			join(c, total, i);
			return;
		}
	}
}

int verdict_cause_find(struct verdict_groups *groups, const struct verdict *v,
		       const struct builds *builds)
{
	struct causes c = { groups, array_new(groups->n + 1, sizeof *c.cause) };
	uint32_t *of_task = array_new(builds->n_tasks + 1, sizeof *of_task);

	free_all(groups->cause, groups->like);
	groups->cause = c.cause;
	groups->like = array_new(groups->n + 1, sizeof *groups->like);
	groups->n_causes = 0;
	if (!c.cause || !groups->like || !of_task) {
		free(of_task);
		return -ENOMEM;
	}
	for (size_t i = 0; i < builds->n_tasks; i++)
		of_task[i] = NONE;
	for (uint32_t i = 0; i < groups->n; i++)
		c.cause[i] = groups->like[i] = i;
	find_like(&c, v, builds);
	join_tasks(&c, v, of_task);
	join_shared(&c, v, builds);
	join_alike(&c, TASK_HOST);
	join_alike(&c, TASK_TOTAL);
	for (uint32_t i = 0; i < groups->n; i++) {
		if (whole(&c, i)->fails && whole(&c, i)->task == TASK_TOTAL)
			join_total(&c, i);
	}
	for (uint32_t i = 0; i < groups->n; i++) {
		c.cause[i] = root(&c, i);
		groups->n_causes += c.cause[i] == i && whole(&c, i)->fails;
	}
	free(of_task);
	return 0;
}
