/* SPDX-License-Identifier: MIT */
#include "stats/distribution.h"
#include "stats/samples.h"
#include "stats/utest.h"

#include "base/array.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define LEAST_NOISE 1e-3	/* relative precision of any measurement */

const char *const samples_verdict_word[VERDICT_HIGHER + 1] = {
	[VERDICT_UNKNOWN] = "unknown",
	[VERDICT_SAME] = "same",
	[VERDICT_LOWER] = "lower",
	[VERDICT_HIGHER] = "higher",
};

/* The values of one pair, sorted. */
struct pair {
	double *base, *now;
	size_t n_base, n_now;
};

static size_t take_finite(double *into, const double *v, size_t n)
{
	size_t taken = 0;

	for (size_t i = 0; i < n; i++) {
		if (isfinite(v[i]))
			into[taken++] = v[i];
	}
	stats_sort(into, taken);
	return taken;
}

static int take_pair(struct pair *p, const double *base, size_t n_base,
		     const double *now, size_t n_now)
{
	p->base = array_new(n_base + n_now, sizeof *p->base);
	if (!p->base)
		return -ENOMEM;
	p->n_base = take_finite(p->base, base, n_base);
	p->now = p->base + p->n_base;
	p->n_now = take_finite(p->now, now, n_now);
	return 0;
}

static struct side side_of(const double *v, size_t n)
{
	return (struct side){
		.n = n, .median = stats_median_sorted(v, n),
		.in = stats_median_interval(v, n, SAMPLES_CONFIDENCE),
	};
}

static void rescale(double *v, size_t n, bool ratios, double scale)
{
	for (size_t i = 0; i < n; i++)
		v[i] = ratios ? log(v[i]) : v[i] / scale;
}

static double squares(const double *v, size_t n)
{
	return n > 1 ? stats_variance(v, n) * (n - 1) : 0;
}

/* A step as a share of base; an infinite end stays infinite. */
static double share(const struct samples *s, double step)
{
	return s->ratios && isfinite(step) ? expm1(step) : step;
}

static int compare_effect(struct samples *s, struct pair *p)
{
	struct interval in;
	double step;
	int r;

	s->ratios = p->base[0] > 0 && p->now[0] > 0;
	s->scale = fabs(s->base.median);
	if (!s->ratios && !(s->scale > 0))
		return 0;
	rescale(p->base, p->n_base, s->ratios, s->scale);
	rescale(p->now, p->n_now, s->ratios, s->scale);
	r = utest_shift(&step, &in, p->base, p->n_base, p->now, p->n_now, SAMPLES_CONFIDENCE);
	if (r)
		return r;
	s->effect = share(s, step);
	s->in = (struct interval){ share(s, in.low), share(s, in.high) };
	s->step = stats_mean(p->now, p->n_now) - stats_mean(p->base, p->n_base);
	s->df = p->n_base + p->n_now - 2;
	s->variance = (squares(p->base, p->n_base) + squares(p->now, p->n_now)) / s->df;
	return 0;
}

int samples_compare(struct samples *s, const double *base, size_t n_base,
		    const double *now, size_t n_now)
{
	struct pair p;
	int r;

	*s = (struct samples){
		.adjusted_p = NAN, .t_p = NAN, .adjusted_t_p = NAN, .rate = NAN, .effect = NAN,
		.in = { -INFINITY, INFINITY }, .step = NAN, .variance = NAN,
	};
	r = take_pair(&p, base, n_base, now, n_now);
	if (r)
		return r;
	s->base = side_of(p.base, p.n_base);
	s->now = side_of(p.now, p.n_now);
	r = utest_p(&s->p, p.base, p.n_base, p.now, p.n_now);
	if (!r && p.n_base && p.n_now)
		r = compare_effect(s, &p);
	free(p.base);
	return r;
}

/* Student's interval replaces an infinite one of the ranks. */
static void test_student(struct samples *s, const struct prior *prior)
{
	double df = prior->df + s->df, variance = stats_shrink(prior, s->variance, s->df);
	double error, reach;

	if (isnan(s->step) || !(s->df > 0))
		return;
	variance = fmax(variance, LEAST_NOISE * LEAST_NOISE);
	error = sqrt(variance * (1.0 / s->base.n + 1.0 / s->now.n));
	s->t_p = stats_t_both(s->step / error, df);
	if (isfinite(s->in.high))
		return;
	reach = stats_t_quantile(0.5 * (1 - SAMPLES_CONFIDENCE), df) * error;
	s->in = (struct interval){ share(s, s->step - reach), share(s, s->step + reach) };
}

int samples_moderate(struct samples *s, size_t n)
{
	double *variance = array_new_zero(2 * n, sizeof *variance);
	struct prior prior;

	if (!variance)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		variance[i] = s[i].variance;
		variance[n + i] = s[i].df;
	}
	prior = stats_prior(variance, variance + n, n);
	free(variance);
	for (size_t i = 0; i < n; i++)
		test_student(&s[i], &prior);
	return 0;
}

static double p_of(const struct samples *s)
{
	bool ranked = s->base.n >= SAMPLES_RANKED && s->now.n >= SAMPLES_RANKED;

	return ranked ? fmin(1, 2 * fmin(s->p, s->t_p)) : s->t_p;
}

static enum samples_verdict verdict_of(const struct samples *s, const struct samples_rules *rules)
{
	if (s->rate <= rules->rate && fabs(s->effect) >= rules->least_effect)
		return s->effect > 0 ? VERDICT_HIGHER : VERDICT_LOWER;
	if (s->in.low > -rules->least_effect && s->in.high < rules->least_effect)
		return VERDICT_SAME;
	return VERDICT_UNKNOWN;
}

int samples_adjust(struct samples *s, size_t n)
{
	double *p = array_new(3 * n, sizeof *p), *t_p, *rate;
	int r;

	if (!p)
		return -ENOMEM;
	t_p = p + n;
	rate = t_p + n;
	for (size_t i = 0; i < n; i++) {
		p[i] = s[i].p;
		t_p[i] = s[i].t_p;
		rate[i] = p_of(&s[i]);
	}
	r = stats_adjust(p, n);
	if (!r)
		r = stats_adjust(t_p, n);
	if (!r)
		r = stats_adjust(rate, n);
	for (size_t i = 0; !r && i < n; i++) {
		s[i].adjusted_p = p[i];
		s[i].adjusted_t_p = t_p[i];
		s[i].rate = rate[i];
	}
	free(p);
	return r;
}

int samples_judge(struct samples *s, size_t n, const struct samples_rules *rules)
{
	int r = samples_moderate(s, n);

	if (r)
		return r;
	r = samples_adjust(s, n);
	if (r)
		return r;
	for (size_t i = 0; i < n; i++)
		s[i].verdict = verdict_of(&s[i], rules);
	return 0;
}
