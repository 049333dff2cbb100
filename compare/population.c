/* SPDX-License-Identifier: MIT */
#include "compare/population.h"

#include "base/array.h"
#include "compare/presence.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const enum metric metrics[POPULATION_METRICS] = { METRIC_WALL, METRIC_CPU };

struct counting {
	struct population *p;
	const struct builds *builds;
	float *before[POPULATION_METRICS], *now[POPULATION_METRICS];	/* of each task */
};

/* The builds to compare. */
static bool choose_builds(struct population *p, const struct presence *presence)
{
	size_t i = presence->n_whole;

	if (!presence->n_good)
		return false;
	p->now = presence->good[presence->n_good - 1];
	p->partial = !i || presence->whole[i - 1] != p->now;
	i -= !p->partial;
	if (!i)
		return false;
	p->before = presence->whole[i - 1];
	p->n_before = presence->count[p->before];
	p->n_now = presence->count[p->now];
	return true;
}

static bool ran_earlier(const struct presence *presence, const struct population *p, uint32_t task)
{
	for (size_t i = 0; i < presence->n_good && presence->good[i] < p->before; i++) {
		if (presence_ran(presence, presence->good[i], task))
			return true;
	}
	return false;
}

static enum population_kind kind_of(const struct presence *presence, const struct population *p,
				    uint32_t task)
{
	if (presence_ran(presence, p->now, task)) {
		if (presence_ran(presence, p->before, task))
			return POPULATION_SAME;
		return ran_earlier(presence, p, task) ? POPULATION_RETURNED : POPULATION_NEW;
	}
	return !p->partial && presence_regular(presence, presence->first[task],
					       presence->n_whole - 1, task) ?
	       POPULATION_GONE : POPULATION_IDLE;
}

/* The first good build after `before` that is like `now`, and all after it are. */
static uint32_t since_of(const struct presence *presence, const struct population *p,
			 uint32_t task)
{
	bool is = presence_ran(presence, p->now, task);
	uint32_t since = p->now;

	for (size_t i = presence->n_good; i-- > 0 && presence->good[i] > p->before; ) {
		if (presence_ran(presence, presence->good[i], task) != is)
			break;
		since = presence->good[i];
	}
	return since;
}

/* The first build of the newest name. */
static void set_renamed(struct population_task *t, const struct counting *c)
{
	const struct builds_task *task = &c->builds->task[t->task];

	for (size_t i = task->n_held; i-- > 1; ) {
		if (task->held[i].first > c->p->now)
			continue;
		t->since = task->held[i].first;
		t->reason = task->held[i].reason;
		break;
	}
}

static int add_task(struct counting *c, uint32_t task)
{
	struct population *p = c->p;
	const struct presence *presence = c->builds->presence;
	enum population_kind kind = kind_of(presence, p, task);
	bool is = kind <= POPULATION_RETURNED;
	struct population_task t = { .task = task, .kind = kind };
	struct population_task *added;

	p->count[kind]++;
	for (size_t m = 0; m < POPULATION_METRICS; m++) {
		t.value[m] = (is ? c->now : c->before)[m][task];
		p->sum[kind][m] += isnan(t.value[m]) ? 0 : t.value[m];
		if (kind == POPULATION_SAME && !isnan(c->before[m][task]))
			p->total_before[m] += c->before[m][task];
	}
	if (kind == POPULATION_SAME) {
		t.was = builds_name_at(c->builds, task, p->before);
		if (!strcmp(t.was, builds_name_at(c->builds, task, p->now)))
			return 0;
		p->n_renamed++;
		set_renamed(&t, c);
	} else if (kind == POPULATION_IDLE) {
		return 0;
	} else {
		t.since = since_of(presence, p, task);
	}
	added = array_add(&p->task, &p->n, sizeof *added);
	if (!added)
		return -ENOMEM;
	*added = t;
	return 0;
}

static int add_tasks(struct counting *c)
{
	const struct presence *presence = c->builds->presence;
	const uint64_t *before = presence->set[c->p->before], *now = presence->set[c->p->now];
	int r = 0;

	for (size_t w = 0; !r && w < presence->words; w++) {
		for (uint64_t left = before[w] | now[w]; !r && left; left &= left - 1)
			r = add_task(c, (uint32_t)(64 * w) + (uint32_t)__builtin_ctzll(left));
	}
	return r;
}

static void add_totals(struct population *p)
{
	for (size_t m = 0; m < POPULATION_METRICS; m++) {
		p->total_now[m] = p->sum[POPULATION_SAME][m] + p->sum[POPULATION_NEW][m] +
				  p->sum[POPULATION_RETURNED][m];
		p->total_before[m] += p->sum[POPULATION_GONE][m] + p->sum[POPULATION_IDLE][m];
	}
}

static double size_of(const struct population_task *t)
{
	double wall = t->value[0], cpu = t->value[1];

	return !isnan(cpu) ? cpu : !isnan(wall) ? wall : -1;
}

static int by_size(const void *a, const void *b)
{
	const struct population_task *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (size_of(x) != size_of(y))
		return size_of(x) > size_of(y) ? -1 : 1;
	return array_order(x->task, y->task);
}

static int load_metrics(struct counting *c, struct error *err)
{
	const struct builds *builds = c->builds;
	int r = 0;

	for (size_t m = 0; !r && m < POPULATION_METRICS; m++) {
		c->before[m] = array_new(builds->n_tasks, sizeof *c->before[m]);
		c->now[m] = array_new(builds->n_tasks, sizeof *c->now[m]);
		if (!c->before[m] || !c->now[m])
			return error_sys(err, -ENOMEM, builds->ref, NULL);
		r = builds->row(builds, c->p->before, metrics[m], c->before[m], err);
		r = r ? r : builds->row(builds, c->p->now, metrics[m], c->now[m], err);
	}
	return r;
}

int population_make(struct population *p, const struct builds *builds, struct error *err)
{
	struct counting c = { .p = p, .builds = builds };
	int r;

	*p = (struct population){ 0 };
	p->known = builds->presence && choose_builds(p, builds->presence);
	if (!p->known)
		return 0;
	r = load_metrics(&c, err);
	if (!r && (r = add_tasks(&c)))
		error_sys(err, r, builds->ref, NULL);
	if (!r) {
		add_totals(p);
		if (p->n)
			qsort(p->task, p->n, sizeof *p->task, by_size);
	}
	for (size_t m = 0; m < POPULATION_METRICS; m++) {
		free(c.before[m]);
		free(c.now[m]);
	}
	return r;
}

void population_release(struct population *p)
{
	free(p->task);
	*p = (struct population){ 0 };
}
