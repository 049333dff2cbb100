/* SPDX-License-Identifier: MIT */
#include "compare/against_target.h"

#include "base/array.h"
#include "base/minmax.h"
#include "base/search.h"
#include "stats/distribution.h"
#include "stats/stats.h"

#include <errno.h>
#include <math.h>

#define IMPROBABLE 0.05
#define SPREAD_LEAST 0.005	/* of a logarithm: what few equal values still hide */
#define ERROR_OF_MEDIAN 1.57	/* variance, in that of a mean */
#define CONFIDENT 1.96

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

/* One metric, and a series of it. */
struct search {
	const struct verdict *v;
	const struct builds *builds;
	const struct rules *rules;
	uint32_t first;
	double *before, *now;		/* logarithms */
	size_t tests;
	struct against_list *list;
	double *off, *p;		/* of each item: deviation in spreads, and its probability */
	double *past;			/* deviations of the target's own values above MUCH */
	size_t n_past, n_all;		/* number of those, and of all values of the target */
};

#define MUCH 1			/* spreads */

static const struct verdict_finding *find_finding(const struct search *s, uint32_t task,
						  enum metric m)
{
	for (size_t i = 0; i < s->v->n; i++) {
		const struct verdict_finding *f = &s->v->finding[i];

		if (f->task == task && f->metric == m && f->worse)
			return f;
	}
	return NULL;
}

static uint32_t more(const struct search *s, double spread, size_t n, size_t own, double clear)
{
	size_t k = own + 1;

	for (; k < own + AGAINST_MORE_MAX; k++) {
		double error = spread * sqrt(1.0 / (double)k + ERROR_OF_MEDIAN / (double)n);

		if (k >= (size_t)s->rules->agree && CONFIDENT * error < clear)
			break;
	}
	return (uint32_t)(k - own);
}

/* The spread of the n values before, whose median is `was`; NaN: out of memory. Adds those that are
 * higher by more than it to s->past. */
static double spread_of(struct search *s, size_t n, double was)
{
	size_t more = s->n_past;
	double spread;

	for (size_t i = 0; i < n; i++) {
		double *past = s->before[i] > was ? array_add(&s->past, &more, sizeof *past) : NULL;

		if (past)
			*past = s->before[i] - was;
		else if (s->before[i] > was)
			return NAN;
	}
	spread = fmax((1 + 1.0 / (double)n) * stats_spread(s->before, n, was), SPREAD_LEAST);
	for (size_t i = s->n_past; i < more; i++) {
		if (s->past[i] > MUCH * spread)
			s->past[s->n_past++] = s->past[i] / spread;
	}
	s->n_all += n;
	return spread;
}

/* Spikes are more frequent than Student's t says: a change of this size is at least as probable as
 * the share of the target's own values, over all tasks. */
static void allow_for_spikes(struct search *s, size_t from)
{
	if (s->n_past)
		stats_sort(s->past, s->n_past);
	for (size_t i = from; i < s->list->n; i++) {
		struct search_range found = search_all(s->n_past);

		while (search_next(&found))
			search_past(&found, s->past[found.at] < s->off[i]);
		s->p[i] = fmax(s->p[i], (double)(s->n_past - found.at) / (double)(s->n_all + 1));
	}
	s->n_past = s->n_all = 0;
}

/* Tests a series with n values in s->before and `own` values in s->now. */
static int test(struct search *s, uint32_t task, enum metric m, size_t n, size_t own)
{
	struct gate gate = rules_gate(s->rules, builds_task_name(s->builds, task), m);
	double host = metric_info[m].time && s->v->host[m] > 0 ? log(s->v->host[m]) : 0;
	const struct verdict_finding *f = find_finding(s, task, m);
	double was, is, change, spread, error, *p, *off;
	struct against_undecided *u;
	size_t same, also;

	if (n < (size_t)s->rules->least_history || !own || gate.ignored)
		return 0;
	s->tests++;
	was = stats_median(s->before, n);
	is = stats_median(s->now, own) - host;
	change = is - was;
	spread = spread_of(s, n, was);
	if (isnan(spread))
		return -ENOMEM;
	if ((f && f->state != FINDING_SUSPECT) ||
	    (!f && (expm1(change) < gate.share || exp(is) - exp(was) < gate.amount ||
		    exp(is) < gate.floor)))
		return 0;
	error = spread * sqrt(1.0 / (double)own + ERROR_OF_MEDIAN / (double)n);
	same = also = s->list->n;
	u = array_add(&s->list->item, &s->list->n, sizeof *u);
	p = u ? array_add(&s->p, &same, sizeof *p) : NULL;
	off = p ? array_add(&s->off, &also, sizeof *off) : NULL;
	if (!off)
		return -ENOMEM;
	*u = (struct against_undecided){
		.task = task, .metric = m, .suspect = f, .before = exp(was), .now = exp(is),
		.more = more(s, spread, n, own, fabs(change - log1p(gate.share))),
	};
	*off = f ? INFINITY : change / error;
	*p = f ? 0 : stats_t_tail(*off, fmax(1, 0.37 * (double)(n - 1)));
	return 0;
}

static int test_metric(struct search *s, enum metric m, const float *values)
{
	size_t all = s->builds->n, window = (size_t)s->rules->window;
	size_t begin = s->first > window ? s->first - window : 0, from = s->list->n;
	int r = 0;

	for (size_t t = 0; t <= s->builds->n_tasks; t++) {
		bool total = t == s->builds->n_tasks;
		size_t n = 0, own = 0;

		for (size_t i = begin; i < all; i++) {
			double value = total ? build_total(&s->builds->build[i], m) :
				       values[t * all + i];

			if (!(value > 0))
				continue;
			if (i < s->first)
				s->before[n++] = log(value);
			else
				s->now[own++] = log(value);
		}
		r = test(s, total ? TASK_TOTAL : (uint32_t)t, m, n, own);
		if (r)
			return r;
	}
	allow_for_spikes(s, from);
	return 0;
}

/* Removes items that are probable as noise. */
static void keep_improbable(struct search *s)
{
	size_t n = s->list->n;

	s->list->n = 0;
	for (size_t i = 0; i < n; i++) {
		struct against_undecided *u = &s->list->item[i];

		if (s->p[i] * (double)s->tests > IMPROBABLE)
			continue;
		s->list->more = MAX(u->more, s->list->more);
		s->list->item[s->list->n++] = *u;
	}
}

int against_find_undecided(struct against_list *list, const struct verdict *v,
			   const struct builds *builds, const struct rules *rules, uint32_t first,
			   struct error *err)
{
	struct search s = {
		.v = v, .builds = builds, .rules = rules, .first = first, .list = list,
		.before = array_new(builds->n, sizeof *s.before),
		.now = array_new(builds->n, sizeof *s.now),
	};
	float *values = array_new(builds->n * builds->n_tasks + 1, sizeof *values);
	int r = s.before && s.now && values ? 0 : -ENOMEM;

	*list = (struct against_list){ 0 };
	if (r)
		error_sys(err, r, builds->ref, NULL);
	for (enum metric m = 0; !r && m < METRICS; m++) {
		if (!(rules->metrics & METRIC_BIT(m)))
			continue;
		r = builds->load(builds, m, values, err);
		if (!r && (r = test_metric(&s, m, values)))
			error_sys(err, r, builds->ref, NULL);
	}
	if (!r)
		keep_improbable(&s);
	free_all(values, s.before, s.now, s.p, s.off, s.past);
	return r;
}
