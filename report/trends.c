/* SPDX-License-Identifier: MIT */
#include "report/trends.h"

#include "stats/stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FINE_VALUES (1 << 20)	/* up to this many values all series are fine */
#define FINE_MOST 2000		/* fine series otherwise */
#define COARSE_VALUES (4 << 20)	/* maximum number of coarse values */
#define COARSE_LEAST 64		/* minimum of a series */
#define ROUNDED_BITS 12
#define FEW 32

struct making {
	struct trends *t;
	const struct builds *builds;
	size_t window;
	uint8_t *is_fine;	/* by series */
	const struct verdict_finding **finding;	/* by series */
	float *values;		/* of a metric, tasks then the build */
	double *sorted;		/* room for the values of a series */
	float *points;
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

static size_t n_recent(const struct trends *t)
{
	return t->n_builds < TRENDS_RECENT ? t->n_builds : TRENDS_RECENT;
}

static void choose_bin(struct trends *t)
{
	size_t n = t->n_series - t->n_fine, old = t->n_builds - n_recent(t);
	size_t most = n ? COARSE_VALUES / n : t->n_builds;

	if (most < COARSE_LEAST)
		most = COARSE_LEAST;
	for (t->bin = 1; n_recent(t) + (old + t->bin - 1) / t->bin > most; t->bin++)
		;
	t->n_points = n_recent(t) + (old + t->bin - 1) / t->bin;
}

size_t trends_first_build(const struct trends *t, size_t point)
{
	size_t old = t->n_builds - n_recent(t), n_old = t->n_points - n_recent(t);

	if (point >= n_old)
		return old + (point - n_old);
	return point ? old - (n_old - point) * t->bin : 0;
}

static float rounded(double value)
{
	int exponent;
	double part;

	if (!isfinite(value))
		return NAN;
	part = frexp(value, &exponent);
	return (float)ldexp(rint(ldexp(part, ROUNDED_BITS)), exponent - ROUNDED_BITS);
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

static double median_known(struct making *k, const float *v, size_t n)
{
	size_t known = 0;

	for (size_t i = 0; i < n; i++) {
		if (!isnan(v[i]))
			k->sorted[known++] = v[i];
	}
	return known ? stats_median(k->sorted, known) : NAN;
}

/* The range of the picture. It is rounded, and no value may be outside. */
static void set_ends(struct trends *t, size_t series, const float *v, size_t n)
{
	float low = NAN, high = NAN;

	for (size_t i = 0; i < n; i++) {
		low = fminf(low, v[i]);
		high = fmaxf(high, v[i]);
	}
	t->low[series] = rounded(low);
	t->high[series] = rounded(high);
}

static void add_points(uint8_t *to, const struct trends *t, size_t series, const float *v, size_t n,
		       int steps)
{
	float low = t->low[series], span = t->high[series] - low;
	float scale = span > 0 ? (float)steps / span : 0;

	for (size_t i = 0; i < n; i++) {
		float step = (v[i] - low) * scale + 0.5f;

		to[i] = (uint8_t)(isnan(v[i]) ? 0 : step < 0 ? 1 : step >= (float)steps ? steps +
				  1 : 1 + (int)step);
	}
}

static void add_coarse(struct making *k, size_t series, const float *v)
{
	struct trends *t = k->t;

	for (size_t i = 0; i < t->n_points; i++) {
		size_t from = trends_first_build(t, i);
		size_t until = i + 1 < t->n_points ? trends_first_build(t, i + 1) : t->n_builds;

		k->points[i] = until - from == 1 ? v[from] : until - from <= FEW ?
			       median_of_bin(v + from, until - from) :
			       (float)median_known(k, v + from, until - from);
	}
	set_ends(t, series, k->points, t->n_points);
	add_points(t->coarse + k->n_coarse++ * t->n_points, t, series, k->points, t->n_points,
		   TRENDS_COARSE);
}

static void add_fine(struct making *k, size_t series, const float *v, size_t *n_fine)
{
	struct trends *t = k->t;

	set_ends(t, series, v, t->n_builds);
	t->fine[*n_fine] = (uint32_t)series;
	add_points(t->values + *n_fine * t->n_builds, t, series, v, t->n_builds, TRENDS_FINE);
	++*n_fine;
}

static void add_series(struct making *k, size_t series, const float *v, size_t *n_fine)
{
	struct trends *t = k->t;
	size_t last = t->n_builds - 1;
	size_t first = last > k->window ? last - k->window : 0;

	t->newest[series] = rounded(v[last]);
	t->usual[series] = rounded(k->finding[series] ? k->finding[series]->before :
				   median_known(k, v + first, last - first));
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
	k->is_fine = calloc(t->n_series + 1, 1);
	k->finding = calloc(t->n_series + 1, sizeof *k->finding);
	k->values = malloc(t->n_rows * t->n_builds * sizeof *k->values + 1);
	k->sorted = malloc(t->n_builds * sizeof *k->sorted + 1);
	k->points = malloc(t->n_builds * sizeof *k->points + 1);
	t->newest = malloc((t->n_series + 1) * sizeof *t->newest);
	t->usual = malloc((t->n_series + 1) * sizeof *t->usual);
	t->low = malloc((t->n_series + 1) * sizeof *t->low);
	t->high = malloc((t->n_series + 1) * sizeof *t->high);
	return k->is_fine && k->finding && k->values && k->sorted && k->points && t->newest &&
	       t->usual && t->low && t->high ? 0 : -ENOMEM;
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
		t->coarse = malloc((t->n_series - t->n_fine) * t->n_points + 1);
		t->fine = malloc((t->n_fine + 1) * sizeof *t->fine);
		t->values = malloc(t->n_fine * t->n_builds + 1);
		r = t->coarse && t->fine && t->values ? 0 : -ENOMEM;
	}
	if (r)
		error_sys(err, r, NULL, NULL);
	for (size_t i = 0; !r && t->n_builds && i < t->n_metrics; i++)
		r = add_metric(&k, i, &n_fine, err);
	free(k.is_fine);
	free(k.finding);
	free(k.values);
	free(k.sorted);
	free(k.points);
	return r;
}

void trends_release(struct trends *t)
{
	free(t->newest);
	free(t->usual);
	free(t->low);
	free(t->high);
	free(t->coarse);
	free(t->fine);
	free(t->values);
}
