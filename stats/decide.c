/* SPDX-License-Identifier: MIT */
#include "stats/decide.h"
#include "stats/distribution.h"

#include "base/array.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_NOISE 1e-3	/* relative precision of any measurement */

/* The three samples on the scale they are compared on. */
enum { GOOD, BAD, NEW, SAMPLES };

struct scaled {
	double *v;		/* of the three samples, consecutive */
	size_t n[SAMPLES], n_all;
	bool ratios;
	double unit;		/* if not ratios: the largest value */
};

static int median_of(double *median, struct sample s)
{
	double *copy = array_new(s.n, sizeof *copy);

	if (!copy)
		return -ENOMEM;
	memcpy(copy, s.v, s.n * sizeof *copy);
	*median = stats_median(copy, s.n);
	free(copy);
	return 0;
}

/* Free s->v afterwards. */
static int scale(struct scaled *s, const struct sample sample[SAMPLES])
{
	double *to;

	s->n_all = 0;
	for (int i = 0; i < SAMPLES; i++)
		s->n_all += s->n[i] = sample[i].n;
	s->v = to = array_new(s->n_all, sizeof *to);
	if (!to)
		return -ENOMEM;
	for (int i = 0; i < SAMPLES; i++) {
		if (sample[i].n)
			memcpy(to, sample[i].v, sample[i].n * sizeof *to);
		to += sample[i].n;
	}
	s->ratios = true;
	s->unit = 0;
	for (size_t i = 0; i < s->n_all; i++) {
		s->ratios = s->ratios && s->v[i] > 0;
		s->unit = fmax(s->unit, fabs(s->v[i]));
	}
	s->unit = s->unit > 0 ? s->unit : 1;
	for (size_t i = 0; i < s->n_all; i++)
		s->v[i] = s->ratios ? log(s->v[i]) : s->v[i] / s->unit;
	return 0;
}

static double squares(const double *v, size_t n)
{
	return n > 1 ? stats_variance(v, n) * (n - 1) : 0;
}

static double noise_of(const struct scaled *s)
{
	double sum = squares(s->v, s->n[GOOD]) + squares(s->v + s->n[GOOD], s->n[BAD]);

	return fmax(sqrt(sum / (s->n[GOOD] + s->n[BAD] - 2)), LEAST_NOISE);
}

/* A sum of numbers that are given by their logarithms. */
struct ln_sum {
	double top, sum;
};

static void ln_sum_add(struct ln_sum *s, double ln)
{
	if (ln > s->top) {
		s->sum = s->sum * exp(s->top - ln) + 1;
		s->top = ln;
	} else {
		s->sum += exp(ln - s->top);
	}
}

static double ln_sum(const struct ln_sum *s)
{
	return s->top + log(s->sum);
}

#define LN_SUM_INIT { -INFINITY, 0 }

#define NOISE_DF 4		/* degrees of freedom of the noise */

/* Grid of levels, in units of the noise. The function is smooth enough that this sum equals
 * its integral. */
#define LEVEL_STEP 0.3
#define LEVEL_BEYOND 4

/* Logarithms are slow: factors are multiplied up to this first. */
#define MANY 1e100

/* Grid of noise sizes, relative to the observed noise. It begins well below 1 because part of
 * the observed noise can be one disturbed run, and ends above it because there are few runs. */
#define NOISE_FROM (1.0 / 8)
#define NOISE_TO 6
#define NOISE_STEP M_SQRT2

/* ln of the likelihood of a sample at a level, without constant factors. */
static double ln_likely(const double *v, size_t n, double level, double noise)
{
	double ln = 0, product = 1;

	for (size_t i = 0; i < n; i++) {
		double z = (v[i] - level) / noise;

		product *= 1 + z * z / NOISE_DF;
		if (product > MANY) {
			ln += log(product);
			product = 1;
		}
	}
	return -0.5 * (NOISE_DF + 1) * (ln + log(product));
}

/* Over all levels: good, bad, good with the new sample, bad with the new sample. */
static void sum_levels(struct ln_sum sum[4], const struct scaled *s, double noise)
{
	const double *good = s->v, *bad = good + s->n[GOOD], *new = bad + s->n[BAD];
	double low = s->v[0], high = s->v[0];

	for (size_t i = 1; i < s->n_all; i++) {
		low = fmin(low, s->v[i]);
		high = fmax(high, s->v[i]);
	}
	for (double x = low - LEVEL_BEYOND * noise; x <= high + LEVEL_BEYOND * noise;
	     x += LEVEL_STEP * noise) {
		double g = ln_likely(good, s->n[GOOD], x, noise);
		double b = ln_likely(bad, s->n[BAD], x, noise);
		double c = ln_likely(new, s->n[NEW], x, noise);

		ln_sum_add(&sum[0], g);
		ln_sum_add(&sum[1], b);
		ln_sum_add(&sum[2], g + c);
		ln_sum_add(&sum[3], b + c);
	}
}

int decide_odds(double *ln_odds, struct sample good, struct sample bad, struct sample sample)
{
	const struct sample all[SAMPLES] = { good, bad, sample };
	struct ln_sum of_good = LN_SUM_INIT, of_bad = LN_SUM_INIT;
	struct scaled s;
	double seen;
	int r = scale(&s, all);

	if (r)
		return r;
	seen = noise_of(&s);
	for (double noise = fmax(seen * NOISE_FROM, LEAST_NOISE); noise <= seen * NOISE_TO;
	     noise *= NOISE_STEP) {
		struct ln_sum sum[4] = { LN_SUM_INIT, LN_SUM_INIT, LN_SUM_INIT, LN_SUM_INIT };
		double size = -log(noise) * ((double)s.n_all - 2);

		sum_levels(sum, &s, noise);
		ln_sum_add(&of_good, size + ln_sum(&sum[2]) + ln_sum(&sum[1]));
		ln_sum_add(&of_bad, size + ln_sum(&sum[0]) + ln_sum(&sum[3]));
	}
	free(s.v);
	*ln_odds = ln_sum(&of_bad) - ln_sum(&of_good);
	return 0;
}

enum decision decide(double ln_odds, size_t runs, double error)
{
	double enough = log((1 - error) / error);

	if (runs < DECIDE_RUNS || !(fabs(ln_odds) >= enough))
		return DECIDE_UNSURE;
	return ln_odds > 0 ? DECIDE_BAD : DECIDE_GOOD;
}

/* A step on that scale as a share of good; infinite if good is 0. */
static double share_of(const struct scaled *s, double good, double step)
{
	if (s->ratios || !isfinite(step))
		return s->ratios ? expm1(step) : step;
	if (good != 0)
		return step * s->unit / fabs(good);
	return step > 0 ? INFINITY : step < 0 ? -INFINITY : 0;
}

static double amount_of(const struct scaled *s, double good, double step)
{
	return s->ratios ? good * expm1(step) : step * s->unit;
}

static enum levels levels_of(const struct apart *a, const struct matters *matters, double most)
{
	if ((a->in.low > 0 || a->in.high < 0) && fabs(a->effect) >= matters->share &&
	    fabs(a->bad - a->good) >= matters->amount)
		return LEVELS_DIFFER;
	if (most < matters->share * fabs(a->good) || most < matters->amount)
		return LEVELS_SAME;
	return LEVELS_UNSURE;
}

/* Of levels that are the same or unsure. */
static enum hidden hidden_by(const struct apart *a, const struct matters *matters)
{
	double share = matters->share * fabs(a->good), least = fmax(share, matters->amount);

	if (a->levels == LEVELS_DIFFER)
		return HIDDEN_NOT;
	if (a->levels == LEVELS_UNSURE && (fabs(a->bad - a->good) >= least ||
					   (a->in.low <= 0 && a->in.high >= 0)))
		return HIDDEN_BY_NOISE;
	return share >= matters->amount ? HIDDEN_BY_SHARE : HIDDEN_BY_AMOUNT;
}

int decide_apart(struct apart *a, struct sample good, struct sample bad,
		 const struct matters *matters, double error)
{
	const struct sample all[SAMPLES] = { good, bad };
	struct apart apart = {
		.levels = LEVELS_UNSURE, .good = NAN, .bad = NAN, .effect = NAN,
		.in = { -INFINITY, INFINITY }, .hidden = HIDDEN_BY_NOISE,
	};
	struct scaled s;
	double step, reach, most;
	int r = median_of(&apart.good, good);

	if (r)
		return r;
	r = median_of(&apart.bad, bad);
	if (r)
		return r;
	r = scale(&s, all);
	if (r)
		return r;
	if (good.n > 1 && bad.n > 1) {
		step = stats_mean(s.v + good.n, bad.n) - stats_mean(s.v, good.n);
		reach = stats_t_quantile(0.5 * error, good.n + bad.n - 2) * noise_of(&s) *
			sqrt(1.0 / good.n + 1.0 / bad.n);
		apart.effect = share_of(&s, apart.good, step);
		apart.in.low = share_of(&s, apart.good, step - reach);
		apart.in.high = share_of(&s, apart.good, step + reach);
		most = fmax(fabs(amount_of(&s, apart.good, step - reach)),
			    fabs(amount_of(&s, apart.good, step + reach)));
		apart.levels = levels_of(&apart, matters, most);
		apart.hidden = hidden_by(&apart, matters);
	}
	if (apart.good < matters->floor && apart.bad < matters->floor) {
		apart.levels = LEVELS_SAME;
		apart.hidden = HIDDEN_BY_FLOOR;
	}
	*a = apart;
	free(s.v);
	return 0;
}

double decide_surprise(struct sample good, struct sample bad, double value)
{
	const struct sample all[SAMPLES] = { good, bad, { &value, 1 } };
	struct scaled s;
	double far;

	if (scale(&s, all))
		return NAN;
	far = s.v[good.n + bad.n] - stats_mean(s.v, good.n);
	far /= noise_of(&s) * sqrt(1 + 1.0 / good.n);
	free(s.v);
	return stats_t_both(far, good.n + bad.n - 2);
}
