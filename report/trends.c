/* SPDX-License-Identifier: MIT */
#include "report/trends.h"

#include "base/array.h"
#include "base/minmax.h"
#include "stats/stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FINE_VALUES (1 << 20)	/* up to this many values all series are fine */
#define FINE_MOST 2000		/* fine series otherwise */
#define COARSE_VALUES (4 << 20)	/* maximum number of coarse values ... */
#define COARSE_LEAST 18		/* ... unless a series has so few */

/*
 * A step of a coarse series is an OCTAVE-th of an octave, 2.2 %: a quiet task then consists of equal
 * bytes, which are deflated to almost none. Of many series it is 7.2 %. With 7 binary digits the base
 * is off by 0.4 % at most, which is little of such a step.
 */
#define MANY_SERIES 100000
#define OCTAVE 32
#define OCTAVE_OF_MANY 10
#define BITS_OF_MANY 7
#define NAN_BITS 0x7fc00000u
#define FRACTION_BITS 23	/* of a float */
#define FEW 32

struct making {
	struct trends *t;
	const struct builds *builds;
	size_t window;
	uint8_t *is_fine;	/* by series */
	const struct verdict_finding **finding;	/* by series */
	float *values;		/* of a metric, tasks then the build */
	double *sorted;		/* room for the values of a series */
	size_t n_coarse;	/* number so far */
};

static size_t series_of(const struct trends *t, uint32_t task, enum metric m)
{
	size_t row = task == TASK_TOTAL ? t->n_rows - 1 : task;

	for (size_t i = 0; i < t->n_metrics; i++) {
		if (t->metric[i] == m && row < t->n_rows)
			return i * t->n_rows + row;
	}
	return SIZE_MAX;
}

static void set_fine(struct making *k, size_t series)
{
	if (series == SIZE_MAX || k->is_fine[series] || k->t->n_fine == FINE_MOST)
		return;
	k->is_fine[series] = 1;
	k->t->n_fine++;
}

static void choose_fine(struct making *k, const struct history *history,
			const struct verdict *verdict)
{
	struct trends *t = k->t;

	if (t->n_series * t->n_builds <= FINE_VALUES) {
		memset(k->is_fine, 1, t->n_series);
		t->n_fine = t->n_series;
	}
	for (size_t i = 0; i < verdict->n; i++) {
		size_t series = series_of(t, verdict->finding[i].task, verdict->finding[i].metric);

		if (series != SIZE_MAX && !k->finding[series])
			k->finding[series] = &verdict->finding[i];
		set_fine(k, series);
	}
	for (size_t i = 0; i < t->n_metrics; i++)
		set_fine(k, i * t->n_rows + t->n_rows - 1);
	for (size_t i = 0; i < history->n_changes; i++)
		set_fine(k, series_of(t, history->change[i].task, history->change[i].metric));
}

static void choose_bin(struct trends *t)
{
	bool many = t->n_series > MANY_SERIES;
	size_t most, old;

	t->n_coarse = t->n_series - t->n_fine;
	most = t->n_coarse ? COARSE_VALUES / t->n_coarse : t->n_builds;
	if (most < COARSE_LEAST)
		most = COARSE_LEAST;
	t->recent = MIN(most / 3, TRENDS_RECENT);
	if (t->recent > t->n_builds)
		t->recent = t->n_builds;
	old = t->n_builds - t->recent;
	t->bin = (old + most - t->recent - 1) / (most - t->recent);
	t->bin = t->bin ? t->bin : 1;
	t->n_points = t->recent + (old + t->bin - 1) / t->bin;
	t->bits = many ? BITS_OF_MANY : TRENDS_BITS;
	t->octave = many ? OCTAVE_OF_MANY : OCTAVE;
}

size_t trends_first_build(const struct trends *t, size_t point)
{
	size_t old = t->n_builds - t->recent, n_old = t->n_points - t->recent;

	if (point >= n_old)
		return old + (point - n_old);
	return point ? old - (n_old - point) * t->bin : 0;
}

uint32_t trends_code(float v, unsigned bits)
{
	unsigned shift = FRACTION_BITS - bits;
	uint32_t code = NAN_BITS;

	if (isfinite(v))
		memcpy(&code, &v, sizeof code);
	return (code + (1u << shift >> 1)) >> shift;
}

static float rounded(double value, unsigned bits)
{
	uint32_t code = trends_code((float)value, bits) << (FRACTION_BITS - bits);
	float v;

	memcpy(&v, &code, sizeof v);
	return v;
}

/* Insertion sort: most medians are of a few builds. */
static float median_of_bin(const float *v, size_t n)
{
	float few[FEW];
	size_t known = 0;

	for (size_t i = 0; i < n && known < FEW; i++) {
		size_t at = known;

		if (isnan(v[i]))
			continue;
		for (; at && few[at - 1] > v[i]; at--)
			few[at] = few[at - 1];
		few[at] = v[i];
		known++;
	}
	if (!known)
		return NAN;
	return known % 2 ? few[known / 2] : (few[known / 2 - 1] + few[known / 2]) / 2;
}

/* Of those that are known and more than `above`. */
static double median_above(struct making *k, float above, const float *v, size_t n)
{
	size_t found = 0;

	for (size_t i = 0; i < n; i++) {
		if (v[i] > above)
			k->sorted[found++] = v[i];
	}
	return stats_median(k->sorted, found);
}

static uint8_t coarse_value(const struct trends *t, float base, float v)
{
	float octaves, steps, even = (float)TRENDS_EVEN / (float)t->octave;

	if (isnan(v))
		return 0;
	if (!(v > 0))
		return 1;
	octaves = fabsf(log2f(v / base));
	steps = octaves <= even ? octaves * (float)t->octave : TRENDS_EVEN + 2 * (octaves - even);
	steps = rintf(fminf(steps, TRENDS_MOST));
	return (uint8_t)(v < base ? TRENDS_BASE - steps : TRENDS_BASE + steps);
}

static void add_coarse(struct making *k, size_t series, const float *v)
{
	struct trends *t = k->t;
	uint8_t *to = t->coarse + k->n_coarse++;

	for (size_t i = 0; i < t->n_points; i++) {
		size_t from = trends_first_build(t, i);
		size_t until = i + 1 < t->n_points ? trends_first_build(t, i + 1) : t->n_builds;
		float value = until - from == 1 ? v[from] : until - from <= FEW ?
			      median_of_bin(v + from, until - from) :
			      (float)median_above(k, -INFINITY, v + from, until - from);

		to[i * t->n_coarse] = coarse_value(t, t->base[series], value);
	}
}

/* The ends are rounded, and no value may be outside. */
static void add_fine(struct making *k, size_t series, const float *v, size_t *n_fine)
{
	struct trends *t = k->t;
	size_t at = (*n_fine)++;
	float low = NAN, high = NAN, scale;

	for (size_t i = 0; i < t->n_builds; i++) {
		low = fminf(low, v[i]);
		high = fmaxf(high, v[i]);
	}
	t->fine[at] = (uint32_t)series;
	t->low[at] = low = rounded(low, TRENDS_BITS);
	t->high[at] = high = rounded(high, TRENDS_BITS);
	scale = high > low ? TRENDS_FINE / (high - low) : 0;
	for (size_t i = 0; i < t->n_builds; i++) {
		float step = (v[i] - low) * scale + 0.5f;

		t->values[at * t->n_builds + i] =
			(uint8_t)(isnan(v[i]) ? 0 : step < 0 ? 1 : step >= TRENDS_FINE ?
				  TRENDS_FINE + 1 : 1 + (int)step);
	}
}

static void add_series(struct making *k, size_t series, const float *v, size_t *n_fine)
{
	struct trends *t = k->t;
	size_t last = t->n_builds - 1;
	size_t first = last > k->window ? last - k->window : 0;
	double usual = k->finding[series] ? k->finding[series]->before :
		       median_above(k, -INFINITY, v + first, last - first);

	t->newest[series] = v[last];
	t->usual[series] = (float)usual;
	t->base[series] = rounded(usual > 0 ? usual : median_above(k, 0, v, t->n_builds),
				  t->bits);
	if (k->is_fine[series])
		add_fine(k, series, v, n_fine);
	else
		add_coarse(k, series, v);
}

static int add_metric(struct making *k, size_t i, size_t *n_fine, struct error *err)
{
	struct trends *t = k->t;
	const struct builds *builds = k->builds;
	float *total = k->values + (t->n_rows - 1) * t->n_builds;
	int r = builds->load(builds, t->metric[i], k->values, err);

	if (r)
		return r;
	for (size_t j = 0; j < t->n_builds; j++)
		total[j] = (float)build_total(&builds->build[j], t->metric[i]);
	for (size_t row = 0; row < t->n_rows; row++)
		add_series(k, i * t->n_rows + row, k->values + row * t->n_builds, n_fine);
	return 0;
}

static int begin(struct making *k, const struct rules *rules)
{
	struct trends *t = k->t;

	t->n_builds = k->builds->n;
	t->n_rows = k->builds->n_tasks + 1;
	for (enum metric m = 0; m < METRICS; m++) {
		if (rules->metrics & METRIC_BIT(m))
			t->metric[t->n_metrics++] = m;
	}
	t->n_series = t->n_rows * t->n_metrics;
	k->window = rules->window > 0 ? (size_t)rules->window : t->n_builds;
	k->is_fine = array_new_zero(t->n_series, 1);
	k->finding = array_new_zero(t->n_series, sizeof *k->finding);
	k->values = array_new(t->n_rows * t->n_builds, sizeof *k->values);
	k->sorted = array_new(t->n_builds, sizeof *k->sorted);
	t->newest = array_new(t->n_series, sizeof *t->newest);
	t->usual = array_new(t->n_series, sizeof *t->usual);
	t->base = array_new(t->n_series, sizeof *t->base);
	return k->is_fine && k->finding && k->values && k->sorted && t->newest && t->usual &&
	       t->base ? 0 : -ENOMEM;
}

int trends_make(struct trends *t, const struct builds *builds, const struct rules *rules,
		const struct history *history, const struct verdict *verdict, struct error *err)
{
	struct making k = { .t = t, .builds = builds };
	size_t n_fine = 0;
	int r;

	*t = (struct trends){ 0 };
	r = begin(&k, rules);
	if (!r) {
		choose_fine(&k, history, verdict);
		choose_bin(t);
		t->coarse = malloc(t->n_coarse * t->n_points + 1);
		t->fine = array_new(t->n_fine, sizeof *t->fine);
		t->low = array_new(t->n_fine, sizeof *t->low);
		t->high = array_new(t->n_fine, sizeof *t->high);
		t->values = malloc(t->n_fine * t->n_builds + 1);
		r = t->coarse && t->fine && t->low && t->high && t->values ? 0 : -ENOMEM;
	}
	if (r)
		error_sys(err, r, NULL, NULL);
	for (size_t i = 0; !r && t->n_builds && i < t->n_metrics; i++)
		r = add_metric(&k, i, &n_fine, err);
	free_all(k.is_fine, k.finding, k.values, k.sorted);
	return r;
}

void trends_release(struct trends *t)
{
	free_all(t->newest, t->usual, t->base, t->low, t->high, t->coarse, t->fine, t->values);
}
