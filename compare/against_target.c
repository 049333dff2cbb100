/* SPDX-License-Identifier: MIT */
#include "compare/against_target.h"

#include "base/array.h"
#include "base/minmax.h"
#include "base/search.h"
#include "stats/changepoints.h"
#include "stats/distribution.h"
#include "stats/stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define IMPROBABLE 0.05
#define SPREAD_LEAST 0.005	/* of a logarithm: what few equal values still hide */
#define ERROR_OF_MEDIAN 1.57	/* variance, in that of a mean */
#define DF_OF_MAD 0.37		/* degrees of freedom of a spread, for each value but one */
#define FACTOR_FEWEST 10	/* tasks with a common factor */
#define FACTOR_LEAST_US 1e5
#define TAIL 0.01		/* share of the deviations that is extrapolated */
#define TAIL_FEWEST 10
#define CLIP 3.0
#define SPIKES_OF_TASK 1
#define OF_TASKS 0
#define OF_BUILD 1

size_t against_keep_own(struct verdict *v, uint32_t first)
{
	size_t kept = 0, theirs = 0;

	v->n_confirmed = v->n_known = v->n_suspect = 0;
	for (size_t i = 0; i < v->n; i++) {
		const struct verdict_finding *f = &v->finding[i];
		bool counts = f->worse && f->task != TASK_HOST;

		if (f->last < first) {
			theirs += f->fails;
			continue;
		}
		v->n_confirmed += f->fails;
		v->n_known += counts && f->state == FINDING_KNOWN;
		v->n_suspect += counts && f->state == FINDING_SUSPECT;
		v->finding[kept++] = *f;
	}
	v->n = kept;
	return theirs;
}

/* A series of a metric. */
struct series {
	size_t n, own;		/* values of the target, and of the branch */
	double middle;		/* of the target's */
	double variance, df;	/* of the target's, about that */
};

/* One metric in the window. */
struct search {
	const struct verdict *v;
	const struct builds *builds;
	const struct rules *rules;
	uint32_t first, begin;	/* builds */
	size_t n_before, n;	/* builds of the target, and all, from `begin` */
	enum metric metric;
	double *x;		/* x[task * n + build]: logarithms; the last row is the build's */
	struct series *series;	/* of each row */
	double *work;
	double *past;		/* deviations of the target's own values of tasks, sorted */
	size_t n_past;
	double excess;		/* mean of the largest ones above the least of them */
	double alike;		/* correlation of those of consecutive builds, at least 0 */
	struct changepoints *points;
	size_t tests[2];	/* of tasks, of the build */
	struct against_list *list;
	double *p;		/* of each item */
};

static double *row_of(const struct search *s, size_t row)
{
	return s->x + row * s->n;
}

static struct gate gate_of(const struct search *s, size_t row)
{
	return rules_gate(s->rules, builds_task_name(s->builds, (uint32_t)row), s->metric);
}

static void fill(struct search *s, const float *values)
{
	size_t n_tasks = s->builds->n_tasks;

	for (size_t row = 0; row <= n_tasks; row++) {
		double *x = row_of(s, row);

		for (size_t b = 0; b < s->n; b++) {
			double value = row < n_tasks ?
				       values[row * s->builds->n + s->begin + b] :
				       build_total(&s->builds->build[s->begin + b], s->metric);

			x[b] = value > 0 ? log(value) : NAN;
		}
	}
}

/* Copies the known values of the builds [from, end) of a row to work; returns their number. */
static size_t take(const struct search *s, size_t row, size_t from, size_t end)
{
	const double *x = row_of(s, row);
	size_t n = 0;

	for (size_t b = from; b < end; b++) {
		if (!isnan(x[b]))
			s->work[n++] = x[b];
	}
	return n;
}

static void find_middles(struct search *s)
{
	for (size_t row = 0; row <= s->builds->n_tasks; row++) {
		struct series *t = &s->series[row];

		t->n = take(s, row, 0, s->n_before);
		t->middle = stats_median(s->work, t->n);
		t->own = s->n - s->n_before;
		for (size_t b = s->n_before; b < s->n; b++)
			t->own -= isnan(row_of(s, row)[b]);
	}
}

/* Removes the common factor of each build from the times of its tasks. */
static void remove_factors(struct search *s)
{
	size_t n_tasks = s->builds->n_tasks;

	for (size_t b = 0; b < s->n; b++) {
		double factor;
		size_t n = 0;

		for (size_t row = 0; row < n_tasks; row++) {
			double off = row_of(s, row)[b] - s->series[row].middle;

			if (!isnan(off) && s->series[row].middle > log(FACTOR_LEAST_US))
				s->work[n++] = off;
		}
		factor = n < FACTOR_FEWEST ? 0 : stats_median(s->work, n);
		for (size_t row = 0; row < n_tasks; row++)
			row_of(s, row)[b] -= factor;
	}
}

/* The tasks share an estimate of the noise. Returns 0 or -ENOMEM. */
static int find_noise(struct search *s)
{
	size_t n_tasks = s->builds->n_tasks;
	double *variance = array_new_zero(2 * (n_tasks + 1), sizeof *variance);
	double *df = variance + n_tasks + 1;
	struct prior prior;

	if (!variance)
		return -ENOMEM;
	for (size_t row = 0; row <= n_tasks; row++) {
		struct series *t = &s->series[row];
		size_t n = take(s, row, 0, s->n_before);
		double spread = n ? (1 + 1.0 / (double)n) * stats_spread(s->work, n, t->middle) : 0;

		variance[row] = spread * spread;
		df[row] = n > 1 ? fmax(1, DF_OF_MAD * (double)(n - 1)) : 0;
	}
	prior = stats_prior(variance, df, n_tasks);
	for (size_t row = 0; row <= n_tasks; row++) {
		struct series *t = &s->series[row];
		bool shared = row < n_tasks;

		t->variance = shared ? stats_shrink(&prior, variance[row], df[row]) : variance[row];
		t->variance = fmax(t->variance, SPREAD_LEAST * SPREAD_LEAST);
		t->df = fmax(1, df[row] + (shared ? prior.df : 0));
	}
	free(variance);
	return 0;
}

static double clipped(double z)
{
	return isnan(z) ? 0 : fmax(-CLIP, fmin(CLIP, z));
}

/* How far the target's own values of tasks are above their level. Returns 0 or -ENOMEM. */
static int find_past(struct search *s)
{
	double squares = 0, products = 0;
	size_t top;

	s->n_past = 0;
	s->past = array_new(s->n_before * s->builds->n_tasks, sizeof *s->past);
	if (!s->past)
		return -ENOMEM;
	for (size_t row = 0; row < s->builds->n_tasks; row++) {
		const struct series *t = &s->series[row];
		double scale = t->n > 1 ? sqrt(t->variance * (1 - 1.0 / (double)t->n)) : 0;

		for (size_t b = 0; scale > 0 && b < s->n_before; b++) {
			double z = (row_of(s, row)[b] - t->middle) / scale;

			if (!isnan(z))
				s->past[s->n_past++] = z;
			squares += clipped(z) * clipped(z);
			if (b > 0)
				products += clipped(z) * clipped((row_of(s, row)[b - 1] - t->middle) / scale);
		}
	}
	/* a level from n values makes them look unlike by 1/n */
	s->alike = squares > 0 ? fmax(0, fmin(1, products / squares + 1 / (double)s->n_before)) : 0;
	stats_sort(s->past, s->n_past);
	top = (size_t)(TAIL * (double)s->n_past);
	s->excess = 0;
	if (top >= TAIL_FEWEST)
		s->excess = stats_mean(s->past + s->n_past - top, top) -
			    s->past[s->n_past - top - 1];
	return 0;
}

/*
 * The probability that a value of a task is so far above its level. Spikes are more frequent than
 * Student's t says, so it is at least the share of the target's own values, over all tasks. An
 * exponential distribution extrapolates the largest of these. It is also at least the share of
 * the task's own values, which may have two levels, without one spike.
 */
static double tail(const struct search *s, const struct series *t, double z)
{
	const double *x = row_of(s, (size_t)(t - s->series));
	size_t top = (size_t)(TAIL * (double)s->n_past), above, own = 0;
	struct search_range found = search_all(s->n_past);
	double by_chance, far = t->middle + z * sqrt(t->variance);

	while (search_next(&found))
		search_past(&found, s->past[found.at] < z);
	above = s->n_past - found.at;
	by_chance = (double)above / ((double)s->n_past + 1);
	if (s->excess > 0 && above < top)
		by_chance = TAIL * exp((s->past[s->n_past - top - 1] - z) / s->excess);
	for (size_t b = 0; b < s->n_before; b++)
		own += x[b] >= far;
	if (own > SPIKES_OF_TASK)
		by_chance = fmax(by_chance, (double)(own - SPIKES_OF_TASK) / (double)t->n);
	return fmax(by_chance, stats_t_tail(z, t->df));
}

/*
 * The probability that recordings, whose deviations z are sorted, are so far off: of any majority of
 * them, the one that is least probable. Recordings of one hour are as alike as consecutive builds.
 */
static double improbability(const struct search *s, const struct series *t, const double *z)
{
	double least = 1;
	size_t n = t->own;

	for (size_t k = n / 2 + 1; k <= n; k++) {
		double p = stats_beta_share((double)k, (double)(n - k + 1), tail(s, t, z[n - k]));

		least = fmin(least, pow(p, (1 + (1 - s->alike) * (double)(k - 1)) / (double)k));
	}
	return least * (double)(n - n / 2);
}

/* A regression that began with the branch. */
static const struct verdict_finding *find_finding(const struct search *s, uint32_t task)
{
	for (size_t i = 0; i < s->v->n; i++) {
		const struct verdict_finding *f = &s->v->finding[i];

		if (f->task == task && f->metric == s->metric && f->worse && f->last >= s->first)
			return f;
	}
	return NULL;
}

/* The first build of the target's own last change that the verdict has, or 0. */
static uint32_t find_step(const struct search *s, uint32_t task)
{
	uint32_t since = 0;

	for (size_t i = 0; i < s->v->n; i++) {
		const struct verdict_finding *f = &s->v->finding[i];

		if (f->task == task && f->metric == s->metric && f->last < s->first)
			since = MAX(f->since, since);
	}
	return since;
}

static bool matters(const struct gate *gate, double was, double is)
{
	return is > was && expm1(is - was) >= gate->share && exp(is) - exp(was) >= gate->amount &&
	       exp(is) >= gate->floor;
}

/* The level since the target's own last change, if that is in the window. 0 or -ENOMEM. */
static int find_level(struct search *s, size_t row, double *was)
{
	uint32_t step = find_step(s, row < s->builds->n_tasks ? (uint32_t)row : TASK_TOTAL);
	size_t n, since = step > s->begin ? step - s->begin : 0;
	const struct change *change;
	int r;

	for (size_t b = 0; b < s->n_before; b++)
		s->work[b] = exp(row_of(s, row)[b]);
	r = changepoints_find(s->points, &change, &n, s->work, s->n_before, s->rules->gate[s->metric].share);
	if (r)
		return r;
	since = n ? MAX(change[n - 1].at, since) : since;
	n = take(s, row, since, s->n_before);
	if (since && n)
		*was = stats_median(s->work, n);
	return 0;
}

static int add_item(struct search *s, const struct against_undecided *u, double p)
{
	size_t same = s->list->n;
	double *its = array_add(&s->p, &same, sizeof *its);
	struct against_undecided *item = its ? array_add(&s->list->item, &s->list->n, sizeof *item) :
					 NULL;

	if (!item)
		return -ENOMEM;
	*item = *u;
	*its = p;
	return 0;
}

static int test(struct search *s, size_t row)
{
	bool build = row == s->builds->n_tasks;
	uint32_t task = build ? TASK_TOTAL : (uint32_t)row;
	const struct verdict_finding *f = find_finding(s, task);
	const struct series *t = &s->series[row];
	struct gate gate = gate_of(s, row);
	struct against_undecided u = { .task = task, .metric = s->metric, .suspect = f };
	double was = t->middle, is, p = 0, scale;
	size_t own;
	int r;

	if (t->n < (size_t)s->rules->least_history || !t->own || gate.ignored ||
	    (f && f->state != FINDING_SUSPECT))
		return 0;
	own = take(s, row, s->n_before, s->n);
	stats_sort(s->work, own);
	is = stats_median_sorted(s->work, own);
	s->tests[build ? OF_BUILD : OF_TASKS] += exp(fmax(was, is)) >= fmax(gate.amount, gate.floor);
	if (!f && !matters(&gate, was, is))
		return 0;
	/* fewer recordings than must agree cannot decide about a suspect */
	if (!f || own >= (size_t)s->rules->agree) {
		scale = sqrt(t->variance * (1 + ERROR_OF_MEDIAN / (double)t->n));
		for (size_t i = 0; i < own; i++)
			s->work[i] = (s->work[i] - was) / scale;
		/* recordings of one hour share what the machine does to the whole build */
		p = build ? stats_t_tail((is - was) / scale, t->df) : improbability(s, t, s->work);
		if (p > IMPROBABLE)
			return 0;
		r = find_level(s, row, &was);
		if (r || !matters(&gate, was, is))
			return r;
	}
	u.before = exp(was);
	u.now = exp(is);
	return add_item(s, &u, p);
}

static int test_metric(struct search *s, const float *values)
{
	int r;

	fill(s, values);
	find_middles(s);
	if (metric_info[s->metric].time) {
		remove_factors(s);
		find_middles(s);
	}
	r = find_noise(s);
	if (r)
		return r;
	r = find_past(s);
	for (size_t row = 0; !r && row <= s->builds->n_tasks; row++)
		r = test(s, row);
	free(s->past);
	return r;
}

static bool has_task_akin(const struct against_list *list, enum metric metric)
{
	for (size_t i = 0; i < list->n; i++) {
		if (list->item[i].task != TASK_TOTAL && metric_is_akin(list->item[i].metric, metric))
			return true;
	}
	return false;
}

/* Removes items that are probable as noise, then those of the build that a task explains. */
static void keep_causes(struct search *s)
{
	struct against_list *list = s->list;
	size_t n = list->n;

	list->n = 0;
	for (size_t i = 0; i < n; i++) {
		const struct against_undecided *u = &list->item[i];

		if (s->p[i] * (double)s->tests[u->task == TASK_TOTAL ? OF_BUILD : OF_TASKS] <= IMPROBABLE)
			list->item[list->n++] = *u;
	}
	n = 0;
	for (size_t i = 0; i < list->n; i++) {
		const struct against_undecided *u = &list->item[i];

		if (u->task != TASK_TOTAL || !has_task_akin(list, u->metric))
			list->item[n++] = *u;
	}
	list->n = n;
}

int against_find_undecided(struct against_list *list, const struct verdict *v,
			   const struct builds *builds, const struct rules *rules, uint32_t first,
			   struct error *err)
{
	uint32_t window = (uint32_t)rules->window, begin = first > window ? first - window : 0;
	size_t n_rows = builds->n_tasks + 1, n = builds->n - begin;
	struct search s = {
		.v = v, .builds = builds, .rules = rules, .first = first, .begin = begin,
		.n_before = first - begin, .n = n, .list = list,
		.x = array_new(n_rows * n, sizeof *s.x),
		.series = array_new_zero(n_rows, sizeof *s.series),
		.work = array_new(MAX(n_rows, n), sizeof *s.work), .points = changepoints_new(),
	};
	float *values = array_new(builds->n * builds->n_tasks + 1, sizeof *values);
	int r = s.x && s.series && s.work && s.points && values ? 0 : -ENOMEM;

	*list = (struct against_list){ 0 };
	if (r)
		error_sys(err, r, builds->ref, NULL);
	for (s.metric = 0; !r && s.metric < METRICS; s.metric++) {
		if (!(rules->metrics & METRIC_BIT(s.metric)))
			continue;
		r = builds->load(builds, s.metric, values, err);
		if (!r && (r = test_metric(&s, values)))
			error_sys(err, r, builds->ref, NULL);
	}
	if (!r)
		keep_causes(&s);
	changepoints_free(s.points);
	free_all(values, s.x, s.series, s.work, s.p);
	return r;
}
