/* SPDX-License-Identifier: MIT */
#include "compare/history_scan.h"

#include "base/array.h"
#include "base/minmax.h"
#include "compare/parallel.h"
#include "stats/creep.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define LEAST_EFFECT 0.01	/* of small changes that may add up */

#define TASKS_AT_ONCE 64

struct found {
	struct history_change *change;
	size_t n;
	size_t n_series, n_quiet;
};

struct finder {
	const struct history_scan *scan;
	struct changepoints *points;
	struct creep_finder *creep;
	struct change *fine;	/* all change points of a series */
	bool *taken;		/* of these, the ones that creep explains */
	double *values;
	struct found found;
	uint32_t task;
	struct gate gate;
	size_t first;		/* of this series in found.change */
};

static int finder_init(struct finder *f, const struct history_scan *scan)
{
	size_t n = scan->builds->n + 1;

	*f = (struct finder){
		.scan = scan, .points = changepoints_new(), .creep = creep_finder_new(),
		.fine = array_new(n, sizeof *f->fine), .taken = array_new(n, sizeof *f->taken),
		.values = array_new(n, sizeof *f->values),
	};
	return f->points && f->creep && f->fine && f->taken && f->values ? 0 : -ENOMEM;
}

static void finder_release(struct finder *f)
{
	changepoints_free(f->points);
	creep_finder_free(f->creep);
	free_all(f->fine, f->taken, f->values, f->found.change);
}

static bool matters(const struct gate *gate, const struct change *c)
{
	return fabs(c->effect) >= gate->share && fabs(c->after - c->before) >= gate->amount &&
	       !(c->before < gate->floor && c->after < gate->floor);
}

static int add_change(struct finder *f, const struct change *c, bool creep)
{
	struct found *found = &f->found;
	struct history_change *added = array_add(&found->change, &found->n, sizeof *added);

	if (!added)
		return -ENOMEM;
	*added = (struct history_change){
		.task = f->task, .metric = f->scan->metric, .creep = creep, .change = *c,
	};
	return 0;
}

static bool is_up(const struct change *c)
{
	return c->after > c->before;
}

/* Removes the steps on a slope that have its direction. */
static void drop_steps(struct finder *f, const struct change *slope, uint32_t first, uint32_t last)
{
	struct found *found = &f->found;
	size_t n = f->first;

	for (size_t i = f->first; i < found->n; i++) {
		const struct history_change *c = &found->change[i];

		if (c->creep || c->change.at < first || c->change.at > last ||
		    is_up(&c->change) != is_up(slope))
			found->change[n++] = *c;
	}
	found->n = n;
}

/* A slope replaces the steps on it, even if it does not matter itself. */
static int add_slopes(struct finder *f, const struct creep *list, size_t n)
{
	int r = 0;

	for (size_t i = 0; i < n; i++) {
		const struct creep *c = &list[i];
		uint32_t first = f->fine[c->begin].first, last = f->fine[c->end - 1].last;

		drop_steps(f, &c->change, MIN(c->change.first, first),
			   MAX(c->change.last, last));
		for (size_t k = c->begin; k < c->end; k++)
			f->taken[k] = true;
		if (matters(&f->gate, &c->change))
			r = add_change(f, &c->change, true);
		if (r)
			return r;
	}
	return 0;
}

/* The run [begin, end) of steps in one direction as one change. */
static struct change summed(const struct finder *f, size_t begin, size_t end)
{
	const struct change *first = &f->fine[begin], *last = &f->fine[end - 1];
	struct change sum = {
		.at = f->fine[begin + (end - begin) / 2].at, .first = first->at, .last = last->at,
		.before = first->before, .after = last->after, .p = 1,
	};
	double ratio = 1, difference = 0;

	for (size_t i = begin; i < end; i++) {
		sum.p = fmin(sum.p, f->fine[i].p);
		ratio *= 1 + f->fine[i].effect;
		difference += f->fine[i].effect;
	}
	sum.effect = sum.before > 0 && sum.after > 0 ? ratio - 1 : difference;
	sum.p = fmin(1, sum.p * (end - begin));
	return sum;
}

static bool goes_on(const struct finder *f, size_t begin, size_t i)
{
	return !f->taken[i] && !matters(&f->gate, &f->fine[i]) &&
	       is_up(&f->fine[i]) == is_up(&f->fine[begin]);
}

/* Small consecutive steps in the same direction that add up to a change that matters. */
static int add_sums(struct finder *f, size_t n_fine)
{
	size_t end;
	int r = 0;

	for (size_t begin = 0; begin < n_fine; begin = end) {
		struct change sum;

		end = begin;
		while (end < n_fine && goes_on(f, begin, end))
			end++;
		if (end < begin + 2) {
			end = begin + 1;
			continue;
		}
		sum = summed(f, begin, end);
		if (!matters(&f->gate, &sum))
			continue;
		drop_steps(f, &sum, f->fine[begin].first, f->fine[end - 1].last);
		r = add_change(f, &sum, true);
		if (r)
			return r;
	}
	return 0;
}

static int add_steps(struct finder *f, const double *values)
{
	const struct change *list;
	size_t n;
	int r = changepoints_find_amount(f->points, &list, &n, values, f->scan->builds->n,
					 f->gate.share, f->gate.amount);

	if (r)
		return r;
	for (size_t i = 0; i < n; i++) {
		if (matters(&f->gate, &list[i]))
			r = add_change(f, &list[i], false);
		if (r)
			return r;
	}
	return 0;
}

static int by_build(const void *a, const void *b)
{
	const struct history_change *x = a, *y = b;

	return x->change.at < y->change.at ? -1 : x->change.at > y->change.at;
}

/* Small steps are found first, because slopes need them. Steps that matter are then searched
 * separately, because two small steps can be one that matters. */
static int find_changes(struct finder *f, const double *values)
{
	const struct change *list;
	const struct creep *slope = NULL;
	size_t n, n_slopes = 0;
	int r = changepoints_find(f->points, &list, &n, values, f->scan->builds->n, LEAST_EFFECT);

	if (r || !n)
		return r;
	for (size_t i = 0; i < n; i++) {
		f->fine[i] = list[i];
		f->taken[i] = false;
	}
	r = creep_find(f->creep, &slope, &n_slopes, f->points, f->fine, n);
	if (!r)
		r = add_steps(f, values);
	if (!r)
		r = add_slopes(f, slope, n_slopes);
	if (!r)
		r = add_sums(f, n);
	if (f->found.n > f->first)
		qsort(f->found.change + f->first, f->found.n - f->first, sizeof *f->found.change,
		      by_build);
	return r;
}

static int examine(struct finder *f, uint32_t task, const double *values)
{
	const struct history_scan *s = f->scan;
	double low = INFINITY, high = -INFINITY;
	int r = 0;

	f->task = task;
	/* The factor of the host is a ratio: only its share counts. */
	f->gate = task == TASK_HOST ?
		  (struct gate){ .share = s->rules->gate[s->metric].share } :
		  rules_gate(s->rules, builds_task_name(s->builds, task), s->metric);
	f->first = f->found.n;
	for (size_t i = 0; i < s->builds->n; i++) {
		low = MIN(values[i], low);
		high = MAX(values[i], high);
	}
	if (f->gate.ignored || isinf(low))
		return 0;
	f->found.n_series++;
	/* Otherwise no two levels can differ by the threshold. */
	if (high - low >= f->gate.amount && high >= f->gate.floor)
		r = find_changes(f, values);
	f->found.n_quiet += f->found.n == f->first;
	return r;
}

void history_scan_take_task(const struct history_scan *s, uint32_t task, double *values)
{
	size_t n = s->builds->n;

	for (size_t i = 0; i < n; i++)
		values[i] = s->values[task * n + i] / (s->host ? s->host[i] : 1);
}

void history_scan_take_total(const struct history_scan *s, double *values)
{
	for (size_t i = 0; i < s->builds->n; i++)
		values[i] = build_total(&s->builds->build[i], s->metric);
}

static int append(struct history_scan *s, const struct found *found)
{
	for (size_t i = 0; i < found->n; i++) {
		struct history_change *added = array_add(&s->change, &s->n_changes, sizeof *added);

		if (!added)
			return -ENOMEM;
		*added = found->change[i];
	}
	s->n_series += found->n_series;
	s->n_quiet += found->n_quiet;
	return 0;
}

int history_scan_series(struct history_scan *s, uint32_t task, const double *values)
{
	struct finder f;
	int r = finder_init(&f, s);

	if (!r)
		r = examine(&f, task, values);
	if (!r)
		r = append(s, &f.found);
	finder_release(&f);
	return r;
}

/* The context of a thread. Results are stored by the position of their items, so that their
 * order does not depend on the threads. */
struct worker {
	struct finder finder;
	uint32_t first;		/* task of item 0 */
	struct found *found;	/* of every TASKS_AT_ONCE items */
};

static int examine_items(void *context, size_t begin, size_t end)
{
	struct worker *h = context;
	struct finder *f = &h->finder;
	int r = 0;

	for (size_t i = begin; !r && i < end; i++) {
		history_scan_take_task(f->scan, h->first + (uint32_t)i, f->values);
		r = examine(f, h->first + (uint32_t)i, f->values);
	}
	h->found[begin / TASKS_AT_ONCE] = f->found;
	f->found = (struct found){ 0 };
	return r;
}

static int run_threads(struct history_scan *s, uint32_t first, size_t n, struct found *found)
{
	struct parallel p = {
		.work = examine_items, .step = TASKS_AT_ONCE,
		.n_threads = parallel_threads(n, TASKS_AT_ONCE),
	};
	struct worker *worker = calloc(p.n_threads, sizeof *worker);
	int r = worker ? 0 : -ENOMEM;

	for (size_t i = 0; !r && i < p.n_threads; i++) {
		worker[i].first = first;
		worker[i].found = found;
		p.context[i] = &worker[i];
		r = finder_init(&worker[i].finder, s);
	}
	if (!r)
		r = parallel_run(&p, n);
	for (size_t i = 0; worker && i < p.n_threads; i++)
		finder_release(&worker[i].finder);
	free(worker);
	return r;
}

int history_scan_tasks(struct history_scan *s, uint32_t begin, uint32_t end)
{
	size_t n = end - begin, parts = n / TASKS_AT_ONCE + 1;
	struct found *found = calloc(parts, sizeof *found);
	int r = found ? run_threads(s, begin, n, found) : -ENOMEM;

	for (size_t i = 0; found && i < parts; i++) {
		if (!r)
			r = append(s, &found[i]);
		free(found[i].change);
	}
	free(found);
	return r;
}
