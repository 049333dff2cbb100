/* SPDX-License-Identifier: MIT */
#include "compare/replay.h"

#include "base/array.h"
#include "stats/stats.h"

#include <errno.h>
#include <stdlib.h>

#define PRIOR 2			/* runs that a share of one half counts as */
#define PRIOR_NONE 0.5		/* and a share of none: the median of all tasks is accurate */

/* The variance of the median of n normal values, by that of one. */
static double left_of(uint32_t n)
{
	return n < 2 ? 1 : n == 2 ? 0.5 : 1.5708 / (n + (n % 2 ? 0.48 : 1.28));
}

/* The median of a variance of n values, by its mean: Wilson and Hilferty. */
static double median_part(uint32_t n)
{
	double part = 1 - 2 / (9.0 * (n - 1));

	return part * part * part;
}

int replay_sets_begin(struct replay *r)
{
	bool any = false;

	for (uint32_t b = 0; b < r->n; b++)
		any = any || r->builds->build[b].runs > 1;
	if (!any)
		return 0;
	r->noise_left = array_new(r->n, sizeof *r->noise_left);
	r->left_sum = array_new(r->n + 1, sizeof *r->left_sum);
	r->left_n = array_new(r->n + 1, sizeof *r->left_n);
	r->run_spread = array_new(r->n_tasks, sizeof *r->run_spread);
	if (!r->noise_left || !r->left_sum || !r->left_n || !r->run_spread)
		return -ENOMEM;
	r->left_sum[0] = r->left_n[0] = 0;
	for (uint32_t b = 0; b < r->n; b++) {
		bool good = !(r->builds->build[b].total[TOTAL_STATUS] > 0);

		r->noise_left[b] = left_of(r->builds->build[b].runs);
		r->left_sum[b + 1] = r->left_sum[b] + (good ? r->noise_left[b] : 0);
		r->left_n[b + 1] = r->left_n[b] + good;
	}
	return 0;
}

/* Of the builds of a reference, on average; 1 without any. */
static double usual_left(const struct replay *r, uint32_t oldest, uint32_t build)
{
	uint32_t n = oldest < build ? r->left_n[build] - r->left_n[oldest] : 0;

	return n ? (r->left_sum[build] - r->left_sum[oldest]) / n : 1;
}

/* The part of the relative variance of a set's runs that all tasks have in common: that of the whole
 * build. References do not contain it. */
static double common_variance(const struct build *build, enum metric m)
{
	double total = metric_total(build->total, m), spread = build->spread[m];

	return !metric_info[m].time ? 0 : total > 0 && !isnan(spread) ? spread / total * (spread / total) :
	       INFINITY;
}

/* From the variance of runs by that of a reference. */
static double share_of_noise(double ratio, double usual)
{
	return fmin(1, ratio / (1 + ratio * (1 - usual)));
}

/*
 * The share of the noise of a single build that differs between runs of one hour, from the median
 * task. What the runs have in common is a part of it or not: the larger share makes single builds
 * expected to deviate more, and the smaller one sets to deviate less.
 */
static int add_share(struct replay *r, size_t m, uint32_t build, struct error *err)
{
	uint32_t runs = r->builds->build[build].runs;
	double *ratio = array_new(2 * r->n_tasks + 2, sizeof *ratio), usual = 0;
	double *own = ratio + r->n_tasks + 1;
	double common = common_variance(&r->builds->build[build], r->metric[m]);
	size_t n = 0;
	int status = ratio ? r->builds->spread(r->builds, build, r->metric[m], r->run_spread, err) :
		     -ENOMEM;

	for (uint32_t task = 0; !status && task < r->n_tasks; task++) {
		const struct replay_row *row = &r->row[task * r->n_metrics + m];
		float x = r->x[m][(size_t)(build - r->first) * r->n_tasks + task];
		double spread = (double)r->run_spread[task] / exp((double)x);

		if (isnan(spread) || row->n < 3 || !(row->own > 0))
			continue;
		own[n] = fmax(spread * spread - common, 0) / (double)row->own;
		ratio[n++] = spread * spread / (double)row->own;
		usual += usual_left(r, row->oldest, build);
	}
	if (n) {
		usual /= (double)n;
		r->within[m] += (runs - 1) *
			share_of_noise(stats_median(ratio, n) / median_part(runs), usual);
		r->within_least[m] += (runs - 1) *
			share_of_noise(stats_median(own, n) / median_part(runs), usual);
		r->within_n[m] += runs - 1;
	}
	free(ratio);
	return status;
}

int replay_sets_look(struct replay *r, uint32_t build, struct error *err)
{
	int status = 0;

	r->set = r->builds->build[build].runs > 1;
	r->alone = r->builds->build[build].runs >= REPLAY_SET_RUNS;
	if (!r->noise_left || r->builds->build[build].runs < 2 || !r->builds->spread)
		return 0;
	for (size_t m = 0; !status && m < r->n_metrics; m++)
		status = add_share(r, m, build, err);
	return status;
}

double replay_sets_wider(const struct replay *r, size_t metric, uint32_t oldest, uint32_t first,
			 uint32_t build)
{
	double share, usual, most = 0;

	if (!r->noise_left)
		return 1;
	for (uint32_t b = first; b <= build; b++)
		most = fmax(most, r->noise_left[b]);
	usual = usual_left(r, oldest, first);
	share = ((most > usual ? r->within : r->within_least)[metric] +
		 (most > usual ? PRIOR * 0.5 : 0)) /
		(r->within_n[metric] + (most > usual ? PRIOR : PRIOR_NONE));
	return sqrt((1 - share + share * most) / (1 - share + share * usual));
}
