/* SPDX-License-Identifier: MIT */
#include "compare/verdict.h"

#include "base/array.h"
#include "compare/verdict_series.h"
#include "stats/distribution.h"
#include "stats/stats.h"
#include "stats/utest.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CONFIDENCE 0.95
#define CUT_OFF 3		/* standard deviations, when a change is located */

/* One direction of a test that may be reported. */
struct candidate {
	const struct verdict_series *s;
	size_t row;
	size_t step;	/* index of the step, if it is one */
	bool worse;
	double p;		/* later the false discovery rate */
};

/* Tests of one kind, adjusted together. */
struct candidates {
	struct candidate *item;
	size_t n;
	size_t tests;		/* made in each direction */
};

struct judge {
	struct verdict *v;
	const struct builds *builds;
	const struct rules *rules;
	const struct known_list *known;
	struct verdict_series series[METRICS];
	struct candidates change;	/* by change points */
	struct candidates running;	/* by rules.agree consecutive builds */
	struct candidates newest;	/* by the newest build alone */
	double least_off;	/* smaller deviations cannot be significant */
	double *work, *more;	/* of every build */
};

static int add(struct candidates *list, struct candidate c)
{
	struct candidate *added = array_add(&list->item, &list->n, sizeof *added);

	if (!added)
		return -ENOMEM;
	*added = c;
	return 0;
}

/* The probability that one build of a series deviates by at least this by chance. */
static double p_of(struct judge *j, const struct verdict_series *s, size_t row, bool worse,
		   double residual)
{
	const struct verdict_level *l = &s->level[row];
	double sign = worse ? 1 : -1, off = sign * verdict_level_off(l, residual), p;

	if (!(off >= j->least_off))
		return 1;
	p = stats_t_tail(off, l->df);
	return fmax(p, tails_share(worse ? &s->up : &s->down, off, j->work,
				   verdict_level_own(s, row, sign, j->work)));
}

/* The probability that the level itself is wrong by this much, which affects all builds. */
static double p_of_level(const struct verdict_level *l, double residual)
{
	return stats_t_tail(fabs(residual) / sqrt(l->variance * MEDIAN_ERROR / l->n), l->df);
}

/* The residual of the newest build that deviates least. */
static double weakest(struct judge *j, const struct verdict_series *s, size_t row, bool worse)
{
	size_t n = verdict_level_residuals(s, row, s->level[row].newest, s->n_builds, j->work);
	double weakest = j->work[0];

	for (size_t i = 1; i < n; i++)
		weakest = worse ? fmin(weakest, j->work[i]) : fmax(weakest, j->work[i]);
	return weakest;
}

static double share(double before, double now)
{
	if (before > 0)
		return now / before - 1;
	return now > before ? INFINITY : now < before ? -INFINITY : 0;
}

static bool passes(const struct gate *gate, const struct verdict_finding *f)
{
	return fabs(f->effect) >= gate->share && fabs(f->now - f->before) >= gate->amount &&
	       f->worse == (f->now > f->before);
}

/* Whether a shift of the level by step matters. */
static bool matters(const struct verdict_level *l, double step, bool worse)
{
	struct verdict_finding f = {
		.before = verdict_level_value(l, 0), .now = verdict_level_value(l, step),
			.worse = worse,
	};

	f.effect = share(f.before, f.now);
	return passes(&l->gate, &f);
}

/* Builds agree if each of them deviates by half the change that matters. */
static int test_newest(struct judge *j, const struct verdict_series *s, size_t row, bool worse)
{
	const struct tails *tails = worse ? &s->up : &s->down;
	struct candidate c = { .s = s, .row = row, .worse = worse };
	double least = weakest(j, s, row, worse);
	int r = 0;

	c.p = tails_running(tails, p_of(j, s, row, worse, least), (size_t)j->rules->agree);
	if (c.p <= j->rules->rate && matters(&s->level[row], 2 * least, worse)) {
		c.p = fmax(c.p, p_of_level(&s->level[row], least));
		r = add(&j->running, c);
	}
	c.p = p_of(j, s, row, worse, s->values[row * s->n_builds + s->n_builds - 1]);
	if (!r && c.p <= j->rules->rate && j->rules->agree > 1 &&
	    verdict_row_task(s, row) != TASK_HOST)
		r = add(&j->newest, c);
	return r;
}

/* The step's p is based on the noise of one series, which may be short. This one uses the
 * shrunk variance, multiplied by the number of possible positions. */
static double p_of_step(const struct verdict_series *s, const struct verdict_step *c)
{
	const struct verdict_level *l = &s->level[c->row];
	double step = l->ratios ? log(c->now / c->before) : (c->now - c->before) / l->scale;
	double error = sqrt(l->variance * (1.0 / c->n_before + 1.0 / c->n_now));

	if (!l->tested || (l->ratios && !(c->before > 0 && c->now > 0)))
		return c->p;
	return fmax(c->p, fmin(1, stats_t_both(step / error,
					       l->df) * (s->n_builds - s->first_build)));
}

static int test_steps(struct judge *j, const struct verdict_series *s)
{
	int r = 0;

	for (size_t i = 0; !r && i < s->n_steps; i++) {
		const struct verdict_step *c = &s->step[i];
		double p = p_of_step(s, c);

		j->change.tests += i && s->step[i - 1].row == c->row;
		if (p <= j->rules->rate)
			r = add(&j->change,
				(struct candidate){ s, c->row, i, c->now > c->before, p });
	}
	return r;
}

/* A series without a change point counts as one test. */
static int test_metric(struct judge *j, const struct verdict_series *s)
{
	int r = test_steps(j, s);

	for (size_t row = 0; !r && row < s->n_rows; row++) {
		const struct verdict_level *l = &s->level[row];

		j->v->n_series += l->judged;
		j->change.tests += l->judged;
		j->running.tests += l->tested;
		j->newest.tests += l->tested;
		if (!l->tested)
			continue;
		r = test_newest(j, s, row, true);
		if (!r)
			r = test_newest(j, s, row, false);
	}
	return r;
}

/* One direction. Tests without a candidate count too. */
static int adjust(struct candidates *list, bool worse)
{
	double *p = malloc((list->n + 1) * sizeof *p);
	size_t n = 0;
	int r;

	if (!p)
		return -ENOMEM;
	for (size_t i = 0; i < list->n; i++) {
		if (list->item[i].worse == worse)
			p[n++] = list->item[i].p;
	}
	r = stats_adjust_among(p, n, list->tests);
	n = 0;
	for (size_t i = 0; !r && i < list->n; i++) {
		if (list->item[i].worse == worse)
			list->item[i].p = p[n++];
	}
	free(p);
	return r;
}

static bool other_machine(const struct builds *builds, const struct verdict_finding *f)
{
	for (uint32_t i = f->first ? f->first : 1; i <= f->last; i++) {
		if (builds->build[i].circumstances != builds->build[i - 1].circumstances)
			return true;
	}
	return false;
}

/* Completes and adds a finding if it matters. Returns 0 or -ENOMEM. */
static int add_finding(struct judge *j, const struct candidate *c, struct verdict_finding f)
{
	const struct verdict_series *s = c->s;
	struct verdict *v = j->v;
	struct verdict_finding *added;
	const char *name = verdict_row_name(s, c->row);

	f.task = verdict_row_task(s, c->row);
	f.metric = s->metric;
	f.worse = c->worse;
	f.rate = c->p;
	if (!passes(&s->level[c->row].gate, &f))
		return 0;
	f.machine = other_machine(j->builds, &f);
	f.builds = verdict_level_residuals(s, c->row, f.since, s->n_builds, j->work);
	if (name && f.state == FINDING_CONFIRMED)
		f.known = known_find(j->known, KNOWN_ACKNOWLEDGED, j->builds, f.task, s->metric,
				     f.first, s->n_builds - 1);
	if (f.known)
		f.state = FINDING_KNOWN;
	added = array_add(&v->finding, &v->n, sizeof *added);
	if (!added)
		return -ENOMEM;
	*added = f;
	return 0;
}

static int report_step(struct judge *j, const struct candidate *c)
{
	const struct verdict_step *s = &c->s->step[c->step];
	const struct verdict_level *l = &c->s->level[c->row];
	struct verdict_finding f = {
		.state = FINDING_CONFIRMED, .since = s->at, .first = s->first, .last = s->last,
		.before = s->before, .now = s->now, .effect = share(s->before, s->now),
	};
	double reach = NAN;

	if (l->tested)
		reach = stats_t_quantile(0.5 * (1 - CONFIDENCE), l->df) *
			sqrt(l->variance * (1.0 / s->n_before + 1.0 / s->n_now));
	f.low = l->ratios ? (1 + f.effect) * exp(-reach) - 1 :
		share(s->before, s->now - reach * l->scale);
	f.high = l->ratios ? (1 + f.effect) * exp(reach) - 1 :
		share(s->before, s->now + reach * l->scale);
	return add_finding(j, c, f);
}

/* By how much better a build fits the new level than the old one, in units of the noise. */
static double fit_gain(const struct verdict_level *l, double residual, double step)
{
	double sd = sqrt(l->variance), x = residual / sd, to = step / sd;

	x = fmax(fmin(x, fmax(0, to) + CUT_OFF), fmin(0, to) - CUT_OFF);
	return x * x - (x - to) * (x - to);
}

/* Locates the first build of the change, by the best fit of all builds up to the newest ones,
 * and its interval. */
static void place(struct judge *j, const struct candidate *c, double step,
		  struct verdict_finding *f)
{
	const struct verdict_series *s = c->s;
	const struct verdict_level *l = &s->level[c->row];
	const float *v = s->values + c->row * s->n_builds;
	double sum = 0, best = -INFINITY;

	for (uint32_t i = s->n_builds; i-- > l->begin; ) {
		j->more[i] = -INFINITY;
		if (isnan(v[i]))
			continue;
		sum += fit_gain(l, v[i], step);
		if (i > l->newest)
			continue;
		j->more[i] = sum;
		f->since = sum > best ? i : f->since;
		best = fmax(best, sum);
	}
	f->first = f->last = f->since;
	for (uint32_t i = l->begin; i <= l->newest; i++) {
		if (j->more[i] < best - 2 * log(1 / (1 - CONFIDENCE)))
			continue;
		f->first = i < f->first ? i : f->first;
		f->last = i > f->last ? i : f->last;
	}
	while (f->first > l->begin + 1 && isnan(v[f->first - 1]))
		f->first--;
}

/* Hodges and Lehmann's shift from the level before `since` to the builds from `since`. */
static int shift_since(struct judge *j, const struct candidate *c, uint32_t since, double *step,
		       size_t *n_now)
{
	const struct verdict_level *l = &c->s->level[c->row];
	uint32_t end = since < l->end ? since : l->end;
	size_t n = verdict_level_residuals(c->s, c->row, l->begin, end, j->work);
	struct interval in;

	*n_now = verdict_level_residuals(c->s, c->row, since, c->s->n_builds, j->more);
	stats_sort(j->work, n);
	stats_sort(j->more, *n_now);
	return utest_shift(step, &in, j->work, n, j->more, *n_now, CONFIDENCE);
}

static int report_newest(struct judge *j, const struct candidate *c, enum verdict_state state)
{
	const struct verdict_level *l = &c->s->level[c->row];
	uint32_t newest = c->s->n_builds - 1;
	struct verdict_finding f = { .state = state, .since = newest, .first = newest,
		.last = newest };
	double step, reach;
	size_t n_now;
	int r = shift_since(j, c, state == FINDING_SUSPECT ? newest : l->newest, &step, &n_now);

	if (!r && state != FINDING_SUSPECT) {
		place(j, c, step, &f);
		r = shift_since(j, c, f.since, &step, &n_now);
	}
	if (r)
		return r;
	reach = stats_t_quantile(0.5 * (1 - CONFIDENCE), l->df) *
		sqrt(l->variance * (1.0 / n_now + MEDIAN_ERROR / l->n));
	f.before = verdict_level_value(l, 0);
	f.now = verdict_level_value(l, step);
	f.effect = share(f.before, f.now);
	f.low = share(f.before, verdict_level_value(l, step - reach));
	f.high = share(f.before, verdict_level_value(l, step + reach));
	return add_finding(j, c, f);
}

/* Whether the change in the newest builds of this series is reported already. */
static bool is_reported(const struct judge *j, const struct candidate *c)
{
	const struct verdict_level *l = &c->s->level[c->row];

	for (size_t i = 0; i < j->v->n; i++) {
		const struct verdict_finding *f = &j->v->finding[i];

		if (f->task == verdict_row_task(c->s, c->row) && f->metric == c->s->metric &&
		    f->worse == c->worse && f->since >= l->end)
			return true;
	}
	return false;
}

static int report_all(struct judge *j)
{
	double rate = j->rules->rate;
	int r = 0;

	for (size_t i = 0; !r && i < j->change.n; i++) {
		if (j->change.item[i].p <= rate)
			r = report_step(j, &j->change.item[i]);
	}
	for (size_t i = 0; !r && i < j->running.n; i++) {
		const struct candidate *c = &j->running.item[i];

		if (c->p <= rate && !is_reported(j, c))
			r = report_newest(j, c, FINDING_CONFIRMED);
	}
	for (size_t i = 0; !r && i < j->newest.n; i++) {
		const struct candidate *c = &j->newest.item[i];

		if (c->p <= rate && !is_reported(j, c))
			r = report_newest(j, c, FINDING_SUSPECT);
	}
	return r;
}

static int kind_of(const struct verdict_finding *f)
{
	return f->task == TASK_HOST ? 0 : f->task == TASK_TOTAL ? 1 : 2;
}

static int in_order(const void *a, const void *b)
{
	const struct verdict_finding *x = a, *y = b;
	double x_by = fabs(x->now - x->before), y_by = fabs(y->now - y->before);

	if (x->state != y->state)
		return x->state < y->state ? -1 : 1;
	if (x->worse != y->worse)
		return x->worse ? -1 : 1;
	if (kind_of(x) != kind_of(y))
		return kind_of(x) - kind_of(y);
	if (x->metric != y->metric)
		return x->metric < y->metric ? -1 : 1;
	if (x_by != y_by)
		return x_by > y_by ? -1 : 1;
	if (x->task != y->task)
		return x->task < y->task ? -1 : 1;
	return x->since < y->since ? -1 : x->since > y->since;
}

static void count(struct verdict *v)
{
	if (v->n)
		qsort(v->finding, v->n, sizeof *v->finding, in_order);
	for (size_t i = 0; i < v->n; i++) {
		struct verdict_finding *f = &v->finding[i];

		if (!f->worse || f->task == TASK_HOST)
			continue;
		f->fails = f->state == FINDING_CONFIRMED;
		v->n_confirmed += f->state == FINDING_CONFIRMED;
		v->n_known += f->state == FINDING_KNOWN;
		v->n_suspect += f->state == FINDING_SUSPECT;
	}
}

/* The window, and the totals without noise that changed in the newest build. */
static void set_window(struct verdict *v, const struct builds *builds, const struct rules *rules)
{
	size_t needed = (size_t)(rules->least_history + rules->agree);
	size_t window = (size_t)rules->window;
	static const enum total exact[EXACT_TOTALS] = { TOTAL_TASKS, TOTAL_FAILED, TOTAL_STATUS };

	for (size_t i = 0; builds->n > 1 && i < EXACT_TOTALS; i++) {
		int64_t before = builds->build[builds->n - 2].total[exact[i]];
		int64_t now = builds->build[builds->n - 1].total[exact[i]];

		if (before >= 0 && now >= 0 && before != now)
			v->exact[v->n_exact++] = (struct exact_change){ exact[i], before, now };
	}
	v->first_build = builds->n > window ? builds->n - window : 0;
	v->n_builds = builds->n - v->first_build;
	v->enough = v->n_builds >= needed;
	v->more_builds = v->enough ? 0 : needed - v->n_builds;
	for (enum metric m = 0; m < METRICS; m++)
		v->host[m] = NAN;
}

static int judge_metric(struct judge *j, enum metric m, struct error *err)
{
	struct verdict_series *s = &j->series[m];
	int r;

	*s = (struct verdict_series){
		.builds = j->builds, .rules = j->rules, .known = j->known, .metric = m,
		.first_build = j->v->first_build,
	};
	r = verdict_series_find(s, err);
	if (r)
		return r;
	if (metric_info[m].time) {
		j->v->host[m] = exp(s->host.ln[s->n_builds - 1]);
		j->v->host_event[m] = s->host.event[s->n_builds - 1];
	}
	return test_metric(j, s);
}

static int judge_all(struct judge *j, struct error *err)
{
	int r = 0;

	for (enum metric m = 0; !r && m < METRICS; m++) {
		if (j->rules->metrics & METRIC_BIT(m))
			r = judge_metric(j, m, err);
	}
	for (int worse = 0; !r && worse < 2; worse++) {
		r = adjust(&j->change, worse);
		if (!r)
			r = adjust(&j->running, worse);
		if (!r)
			r = adjust(&j->newest, worse);
	}
	return r ? r : report_all(j);
}

int verdict_make(struct verdict *v, const struct builds *builds, const struct rules *rules,
		 const struct known_list *known, struct error *err)
{
	struct judge j = {
		.v = v, .builds = builds, .rules = rules, .known = known,
		.least_off = stats_normal_quantile(fmin(0.5, pow(rules->rate, 1.0 / rules->agree))),
		.work = malloc((builds->n + 1) * sizeof *j.work),
		.more = malloc((builds->n + 1) * sizeof *j.more),
	};
	int r = j.work && j.more ? 0 : error_sys(err, -ENOMEM, NULL, "check");

	*v = (struct verdict){ 0 };
	set_window(v, builds, rules);
	if (!r && builds->n)
		r = judge_all(&j, err);
	for (enum metric m = 0; m < METRICS; m++)
		verdict_series_release(&j.series[m]);
	free(j.change.item);
	free(j.running.item);
	free(j.newest.item);
	free(j.work);
	free(j.more);
	count(v);
	if (v->enough && v->n_suspect)
		v->more_builds = (uint32_t)rules->agree - 1;
	return r;
}

void verdict_release(struct verdict *v)
{
	free(v->finding);
	*v = (struct verdict){ 0 };
}
