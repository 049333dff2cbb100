/* SPDX-License-Identifier: MIT */
#include "compare/history_scan.h"

#include "base/array.h"
#include "compare/parallel.h"
#include "stats/creep.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* So small a change is looked for where several may add up. */
#define LEAST_EFFECT 0.01

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
	struct change *fine;	/* all change points, of one series */
	bool *taken;		/* those of them that creep explains */
	double *values;
	struct found found;
	uint32_t task;
	struct gate gate;
	size_t first;		/* of found.change: this series' */
};

static int finder_init(struct finder *f, const struct history_scan *scan)
{
	size_t n = scan->builds->n + 1;

	*f = (struct finder){
		.scan = scan, .points = changepoints_new(), .creep = creep_finder_new(),
		.fine = malloc(n * sizeof *f->fine), .taken = malloc(n * sizeof *f->taken),
		.values = malloc(n * sizeof *f->values),
	};
	return f->points && f->creep && f->fine && f->taken && f->values ? 0 : -ENOMEM;
}

static void finder_release(struct finder *f)
{
	changepoints_free(f->points);
	creep_finder_free(f->creep);
	free(f->fine);
	free(f->taken);
	free(f->values);
	free(f->found.change);
}

/* How slow the host was is a ratio: only its share counts. */
static struct gate gate_of(const struct history_scan *s, uint32_t task)
{
	struct gate gate = rules_gate(s->rules, builds_task_name(s->builds, task), s->metric);

	if (task == TASK_HOST)
		gate = (struct gate){ .share = s->rules->gate[s->metric].share };
	return gate;
}

static bool matters(const struct gate *gate, const struct change *c)
{
	return fabs(c->effect) >= gate->share && fabs(c->after - c->before) >= gate->amount &&
	       !(c->before < gate->floor && c->after < gate->floor);
}

struct range {
	double low, high;
};

static struct range range_of(const double *v, size_t n)
{
	struct range r = { INFINITY, -INFINITY };

	for (size_t i = 0; i < n; i++) {
		r.low = v[i] < r.low ? v[i] : r.low;
		r.high = v[i] > r.high ? v[i] : r.high;
	}
	return r;
}

/* No two levels of it can be as far apart as asked for. */
static bool is_hopeless(const struct gate *gate, const struct range *r)
{
	return !(r->high - r->low >= gate->amount) || r->high < gate->floor;
}

static int add(struct finder *f, const struct change *c, bool creep)
{
	struct found *found = &f->found;
	struct history_change *grown = array_grow(found->change, found->n, sizeof *grown);

	if (!grown)
		return -ENOMEM;
	found->change = grown;
	grown[found->n++] = (struct history_change){
		.task = f->task, .metric = f->scan->metric, .creep = creep, .change = *c,
	};
	return 0;
}

static bool is_up(const struct change *c)
{
	return c->after > c->before;
}

/* Steps that go the same way as the slope they are on. */
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

static uint32_t lower(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static uint32_t higher(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* They win over the steps that are on them, also where they do not matter. */
static int add_slopes(struct finder *f, const struct creep *list, size_t n)
{
	int r = 0;

	for (size_t i = 0; !r && i < n; i++) {
		const struct creep *c = &list[i];

		drop_steps(f, &c->change, lower(c->change.first, f->fine[c->begin].first),
			   higher(c->change.last, f->fine[c->end - 1].last));
		for (size_t k = c->begin; k < c->end; k++)
			f->taken[k] = true;
		if (matters(&f->gate, &c->change))
			r = add(f, &c->change, true);
	}
	return r;
}

/* The run [begin, end) of steps in one direction, none of which matters, as one. */
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

/* Small steps that add up, one after the other in the same direction. */
static int add_sums(struct finder *f, size_t n_fine)
{
	size_t end;
	int r = 0;

	for (size_t begin = 0; !r && begin < n_fine; begin = end) {
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
		r = add(f, &sum, true);
	}
	return r;
}

static int add_steps(struct finder *f, const double *values)
{
	const struct change *list;
	size_t n;
	int r = changepoints_find_amount(f->points, &list, &n, values, f->scan->builds->n,
					 f->gate.share, f->gate.amount);

	for (size_t i = 0; !r && i < n; i++) {
		if (matters(&f->gate, &list[i]))
			r = add(f, &list[i], false);
	}
	return r;
}

static int by_build(const void *a, const void *b)
{
	const struct history_change *x = a, *y = b;

	return x->change.at < y->change.at ? -1 : x->change.at > y->change.at;
}

/* Slopes need the small steps too, so those are found first; then those that matter, as
 * what was two small ones may be one that does. */
static int find(struct finder *f, const double *values)
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

static int look(struct finder *f, uint32_t task, const double *values)
{
	struct range range = range_of(values, f->scan->builds->n);
	int r = 0;

	f->task = task;
	f->gate = gate_of(f->scan, task);
	f->first = f->found.n;
	if (f->gate.ignored || isinf(range.low))
		return 0;
	f->found.n_series++;
	if (!is_hopeless(&f->gate, &range))
		r = find(f, values);
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
		values[i] = build_total(&s->builds->build[i], s->metric) /
			    (s->host ? s->host[i] : 1);
}

static int append(struct history_scan *s, const struct found *found)
{
	for (size_t i = 0; i < found->n; i++) {
		struct history_change *grown = array_grow(s->change, s->n_changes, sizeof *grown);

		if (!grown)
			return -ENOMEM;
		s->change = grown;
		grown[s->n_changes++] = found->change[i];
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
		r = look(&f, task, values);
	if (!r)
		r = append(s, &f.found);
	finder_release(&f);
	return r;
}

/* What a thread works with; what it finds is kept by where that is, so that it does not
 * matter who was first. */
struct hand {
	struct finder finder;
	uint32_t first;		/* task of item 0 */
	struct found *found;	/* of every TASKS_AT_ONCE items */
};

static int look_at(void *context, size_t begin, size_t end)
{
	struct hand *h = context;
	struct finder *f = &h->finder;
	int r = 0;

	for (size_t i = begin; !r && i < end; i++) {
		history_scan_take_task(f->scan, h->first + (uint32_t)i, f->values);
		r = look(f, h->first + (uint32_t)i, f->values);
	}
	h->found[begin / TASKS_AT_ONCE] = f->found;
	f->found = (struct found){ 0 };
	return r;
}

static int share_out(struct history_scan *s, uint32_t first, size_t n, struct found *found)
{
	struct parallel p = {
		.work = look_at, .step = TASKS_AT_ONCE,
		.n_threads = parallel_threads(n, TASKS_AT_ONCE),
	};
	struct hand *hand = calloc(p.n_threads, sizeof *hand);
	int r = hand ? 0 : -ENOMEM;

	for (size_t i = 0; !r && i < p.n_threads; i++) {
		hand[i].first = first;
		hand[i].found = found;
		p.context[i] = &hand[i];
		r = finder_init(&hand[i].finder, s);
	}
	if (!r)
		r = parallel_run(&p, n);
	for (size_t i = 0; hand && i < p.n_threads; i++)
		finder_release(&hand[i].finder);
	free(hand);
	return r;
}

int history_scan_tasks(struct history_scan *s, uint32_t begin, uint32_t end)
{
	size_t n = end - begin, parts = n / TASKS_AT_ONCE + 1;
	struct found *found = calloc(parts, sizeof *found);
	int r = found ? share_out(s, begin, n, found) : -ENOMEM;

	for (size_t i = 0; found && i < parts; i++) {
		if (!r)
			r = append(s, &found[i]);
		free(found[i].change);
	}
	free(found);
	return r;
}
