/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "compare/diff_parts.h"

#include "base/arena.h"
#include "stats/hostfactor.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The common factor is computed from tasks of at least this length. */
#define COMMON_TIME_US 100000

static double median(double *v, size_t n)
{
	return n == 1 ? v[0] : stats_median(v, n);
}

static bool passes(const struct gate *gate, double share, double amount)
{
	return fabs(share) >= gate->share && fabs(amount) >= gate->amount && amount != 0;
}

static double largest(const struct diff_value *f)
{
	return fmax(f->value[DIFF_BASE], f->value[DIFF_NOW]);
}

/* value: of every run, NaN if unknown. Without a gate no value is large. */
static void set_value(struct diff_making *m, struct diff_value *f, const double *value,
		      const struct gate *gate)
{
	*f = (struct diff_value){ .verdict = VERDICT_UNKNOWN };
	for (enum diff_side s = 0; s < DIFF_SIDES; s++) {
		double *known = m->value + m->n_runs;
		size_t n = 0;

		for (size_t i = diff_first_run(m->d, s), end = i + m->d->n_runs[s]; i < end; i++) {
			if (!isnan(value[i]))
				known[n++] = value[i];
		}
		f->value[s] = n ? median(known, n) : NAN;
	}
	f->change = f->value[DIFF_NOW] - f->value[DIFF_BASE];
	f->share = f->change == 0 ? 0 : f->change / f->value[DIFF_BASE];
	f->large = gate && !gate->ignored && largest(f) >= gate->floor &&
		   passes(gate, f->share, f->change);
}

static size_t count_known(const double *v, size_t n)
{
	size_t known = 0;

	for (size_t i = 0; i < n; i++)
		known += !isnan(v[i]);
	return known;
}

/*
 * A value that is smaller than the change that would matter cannot have changed by that much.
 * It is not tested, so that it takes no power from other tests. The decision uses the larger
 * side, so it does not depend on which side that is.
 */
static enum diff_untested why_untested(const struct diff_making *m, const struct diff_value *f,
				       const struct gate *gate, const double *value)
{
	const size_t *n = m->d->n_runs;

	if (isnan(f->value[DIFF_BASE]) && isnan(f->value[DIFF_NOW]))
		return DIFF_NOTHING;
	if (gate->ignored)
		return DIFF_IGNORED;
	if (count_known(value, n[DIFF_BASE]) < 2 ||
	    count_known(value + n[DIFF_BASE], n[DIFF_NOW]) < 2)
		return DIFF_FEW_RUNS;
	if (!(largest(f) > 0))
		return DIFF_NOTHING;
	if (largest(f) < fmax(gate->floor, gate->amount))
		return DIFF_SMALL;
	return f->value[DIFF_BASE] > 0 ? DIFF_TESTED : DIFF_FROM_ZERO;
}

static int add_test(struct diff_making *m, struct diff_value *f, const struct gate *gate,
		    const double *value)
{
	struct diff *d = m->d;
	size_t n_base = d->n_runs[DIFF_BASE], n_now = d->n_runs[DIFF_NOW];
	struct samples *samples;
	struct diff_value **tested;

	if (!d->tested)
		return 0;
	f->untested = why_untested(m, f, gate, value);
	d->n_untested[f->untested]++;
	if (f->untested != DIFF_TESTED)
		return 0;
	samples = array_grow(d->samples, d->n_tests, sizeof *samples);
	if (!samples)
		return -ENOMEM;
	d->samples = samples;
	tested = array_grow(m->tested, d->n_tests, sizeof(struct diff_value *));
	if (!tested)
		return -ENOMEM;
	m->tested = tested;
	tested[d->n_tests] = f;
	return samples_compare(&samples[d->n_tests++], value, n_base, value + n_base, n_now);
}

static double value_of(const struct diff_making *m, size_t task, size_t run, enum metric metric)
{
	uint32_t row = m->row[task * m->n_runs + run];

	return row == NO_ROW ? NAN : values_get(diff_run(m->d, run), row, metric);
}

/* The common factor of the tasks that are in both; unknown if they are few. */
static int find_common(struct diff_making *m, enum metric metric)
{
	struct diff *d = m->d;
	float *value = array_new((d->n_tasks + 1) * m->n_runs, sizeof *value);
	struct hostfactor host = HOSTFACTOR_INIT;
	bool known = false;
	size_t n = 0;
	int r = -ENOMEM;

	for (size_t i = 0; value && i < d->n_tasks; i++) {
		for (size_t run = 0; run < m->n_runs; run++)
			value[n * m->n_runs + run] = (float)value_of(m, i, run, metric);
		n += d->task[i].presence == DIFF_BOTH;
	}
	if (value)
		r = hostfactor_find(&host, value, n, m->n_runs, COMMON_TIME_US);
	for (size_t run = 0; !r && run < m->n_runs; run++) {
		known |= host.ln[run] != 0;
		m->factor[run] = exp(host.ln[run]);
	}
	if (known) {
		double base = median(host.ln, d->n_runs[DIFF_BASE]);

		d->common[metric] = exp(median(host.ln + d->n_runs[DIFF_BASE],
					       d->n_runs[DIFF_NOW]) - base);
	}
	hostfactor_release(&host);
	free(value);
	return r;
}

/* The tests of one metric, beginning with first. d->samples is NULL without tests. */
static int moderate(struct diff *d, size_t first)
{
	return d->n_tests == first ? 0 : samples_moderate(d->samples + first, d->n_tests - first);
}

static int add_metric(struct diff_making *m, enum metric metric)
{
	struct diff *d = m->d;
	struct diff_value *all = array_new(d->n_tasks, sizeof *all);
	size_t first = d->n_tests;
	int r = 0;

	d->value[metric] = all;
	if (!all)
		return -ENOMEM;
	for (size_t i = 0; i < m->n_runs; i++)
		m->factor[i] = 1;
	if (metric_info[metric].time)
		r = find_common(m, metric);
	if (r)
		return r;
	for (size_t i = 0; i < d->n_tasks; i++) {
		struct gate gate = rules_gate(&m->rules, d->task[i].name, metric);

		for (size_t run = 0; run < m->n_runs; run++)
			m->value[run] = value_of(m, i, run, metric);
		set_value(m, &all[i], m->value, &gate);
		if (d->task[i].presence != DIFF_BOTH) {
			all[i].untested = DIFF_NOTHING;
			continue;
		}
		for (size_t run = 0; run < m->n_runs; run++)
			m->value[run] /= m->factor[run];
		r = add_test(m, &all[i], &gate, m->value);
		if (r)
			return r;
	}
	return moderate(d, first);
}

static int add_whole(struct diff_making *m, enum metric metric)
{
	struct diff *d = m->d;
	struct gate gate = rules_gate(&m->rules, "", metric);
	size_t first = d->n_tests;
	int r;

	for (size_t run = 0; run < m->n_runs; run++)
		m->value[run] = metric_total(diff_run(d, run)->total, metric);
	set_value(m, &d->whole[metric], m->value, &gate);
	r = add_test(m, &d->whole[metric], &gate, m->value);
	return r ? r : moderate(d, first);
}

static void set_totals(struct diff_making *m)
{
	struct diff_value *status = &m->d->total[TOTAL_STATUS];

	for (enum total t = 0; t < TOTALS; t++) {
		for (size_t run = 0; run < m->n_runs; run++) {
			int64_t v = diff_run(m->d, run)->total[t];

			m->value[run] = v < 0 ? NAN : (double)v;
		}
		set_value(m, &m->d->total[t], m->value, NULL);
	}
	/* A status has no median: the worst one counts. */
	for (size_t run = 0; run < m->n_runs; run++) {
		double value = (double)diff_run(m->d, run)->total[TOTAL_STATUS];
		double *worst = &status->value[diff_side_of(m->d, run)];

		*worst = value >= 0 ? fmax(*worst, value) : *worst;
	}
	status->change = status->value[DIFF_NOW] - status->value[DIFF_BASE];
	status->share = NAN;
}

static void judge(struct diff *d, struct diff_value *f, const struct gate *gate)
{
	const struct samples *s = f->test;
	double base = f->value[DIFF_BASE];

	if (!s)
		return;
	f->large = passes(gate, s->effect, s->effect * base);
	if (f->large && s->rate <= d->rate)
		f->verdict = s->effect > 0 ? VERDICT_HIGHER : VERDICT_LOWER;
	else if (!passes(gate, s->in.low, s->in.low * base) &&
		 !passes(gate, s->in.high, s->in.high * base))
		f->verdict = VERDICT_SAME;
	d->n_uncertain += f->verdict == VERDICT_UNKNOWN;
}

static void judge_all(struct diff_making *m)
{
	struct diff *d = m->d;

	for (size_t i = 0; i < d->n_tests; i++)
		m->tested[i]->test = &d->samples[i];
	for (enum metric metric = 0; metric < METRICS; metric++) {
		struct gate gate = rules_gate(&m->rules, "", metric);

		judge(d, &d->whole[metric], &gate);
		for (size_t i = 0; d->value[metric] && i < d->n_tasks; i++) {
			struct diff_value *f = &d->value[metric][i];

			if (!f->test)
				continue;
			gate = rules_gate(&m->rules, d->task[i].name, metric);
			judge(d, f, &gate);
			d->n_higher[metric] += f->verdict == VERDICT_HIGHER;
			d->n_lower[metric] += f->verdict == VERDICT_LOWER;
		}
	}
}

/* The larger median of both sides, so that it does not depend on which side that is. */
static void scale_rules(struct diff_making *m)
{
	struct diff *d = m->d;
	double whole[METRICS];

	for (enum metric metric = 0; metric < METRICS; metric++) {
		struct diff_value f;

		for (size_t run = 0; run < m->n_runs; run++)
			m->value[run] = metric_total(diff_run(d, run)->total, metric);
		set_value(m, &f, m->value, NULL);
		whole[metric] = largest(&f);
	}
	rules_scale(&m->rules, whole, d->tested);
	memcpy(d->gate, m->rules.gate, sizeof d->gate);
}

static int compare_builds(struct diff_making *m)
{
	struct diff *d = m->d;
	int r = 0;

	set_totals(m);
	scale_rules(m);
	for (enum metric metric = 0; !r && metric < METRICS; metric++) {
		if (!(d->metrics & METRIC_BIT(metric)))
			continue;
		r = add_whole(m, metric);
		if (!r)
			r = add_metric(m, metric);
	}
	if (!r)
		r = samples_adjust(d->samples, d->n_tests);
	if (!r)
		judge_all(m);
	return r;
}

int diff_make(struct diff *d, const struct values *base, size_t n_base,
	      const struct values *now, size_t n_now, const struct diff_options *options)
{
	struct diff_making m = {
		.d = d, .rules = *options->rules, .filter = options->filter,
		.n_runs = n_base + n_now,
	};
	int r = -ENOMEM;

	*d = (struct diff){
		.texts = arena_new(), .run = { base, now }, .n_runs = { n_base, n_now },
		.tested = n_base > 1 && n_now > 1, .metrics = options->rules->metrics,
		.rate = options->rules->rate,
	};
	for (enum metric metric = 0; metric < METRICS; metric++)
		d->common[metric] = NAN;
	m.factor = array_new(m.n_runs, sizeof *m.factor);
	m.value = array_new(2 * m.n_runs, sizeof *m.value);
	if (d->texts && m.factor && m.value)
		r = diff_match(&m);
	if (!r)
		r = compare_builds(&m);
	if (!r)
		diff_find_unlike(d);
	if (!r)
		r = diff_add_facts(d);
	if (!r)
		r = diff_add_packages(d);
	free_all(m.row, m.factor, m.value, (void *)m.tested);
	return r;
}

void diff_release(struct diff *d)
{
	for (enum metric metric = 0; metric < METRICS; metric++)
		free(d->value[metric]);
	free_all(d->task, d->package, d->fact, d->samples);
	arena_free(d->texts);
	*d = (struct diff){ 0 };
}

bool diff_is_worse(const struct diff *d)
{
	for (enum metric metric = 0; metric < METRICS; metric++) {
		if (d->n_higher[metric] || d->whole[metric].verdict == VERDICT_HIGHER)
			return true;
	}
	return false;
}
