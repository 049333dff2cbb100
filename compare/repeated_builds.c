/* SPDX-License-Identifier: MIT */
#include "compare/repeated_builds.h"

#include "base/array.h"
#include "base/hash.h"
#include "base/minmax.h"
#include "stats/changepoints.h"
#include "stats/stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_EFFECT 0.01	/* of a change point */
#define FEWEST 5		/* sets that know the share of a task */

/* Sets level and deviation, a logarithm, of the good builds of a series; NaN of values that are not
 * above 0. */
static int take_series(struct repeated_builds *r, const float *values)
{
	const struct change *change;
	size_t n_known = 0, n;
	double median;
	int status;

	for (size_t i = 0; i < r->n_good; i++) {
		double x = (double)values[r->good[i]];

		r->deviation[i] = x > 0 ? x : NAN;
		if (x > 0)
			r->level[n_known++] = x;
	}
	median = stats_median(r->level, n_known);
	status = changepoints_find(r->points, &change, &n, r->deviation, r->n_good, LEAST_EFFECT);
	for (size_t i = 0, k = 0; !status && i < r->n_good; i++) {
		while (k < n && change[k].at <= i)
			k++;
		r->level[i] = k ? change[k - 1].after : n ? change[0].before : median;
		r->deviation[i] = log(r->deviation[i] / r->level[i]);
	}
	return status;
}

/* The deviations of the builds that stand for the runs of good build i. Returns how many are known. */
static size_t draw_runs(const struct repeated_builds *r, size_t i, double *run)
{
	size_t n = 0, from[REPEATED_TIMES];

	for (uint64_t k = 0; k < REPEATED_TIMES; k++) {
		from[k] = hash_mix(hash_mix(i * REPEATED_TIMES + k + 1)) % r->n_good;
		while ((k && from[k] == from[k - 1]) || (k > 1 && from[k] == from[k - 2]))
			from[k] = (from[k] + 1) % r->n_good;
		if (!isnan(r->deviation[from[k]]))
			run[n++] = r->deviation[from[k]];
	}
	return n;
}

/* spread: of the values of this series, or NULL. */
static int repeat_series(struct repeated_builds *r, float *values, float *spread)
{
	double share = isnan(r->share) ? 1 : r->share;
	int status = take_series(r, values);

	for (size_t i = 0; !status && i < r->n_good; i++) {
		double run[REPEATED_TIMES], median, value;
		size_t n = draw_runs(r, i, run);

		if (isnan(r->deviation[i]) || !n)
			continue;
		if (spread)
			spread[r->good[i]] = (float)(r->level[i] * sqrt(stats_variance(run, n)));
		median = stats_median(run, n);
		value = r->level[i] * exp(sqrt(share) * median + sqrt(1 - share) * r->deviation[i]);
		values[r->good[i]] = (float)value;
	}
	return status;
}

static int draw(struct repeated_builds *r, enum metric m, struct error *err)
{
	const size_t n = r->from->n, n_tasks = r->from->n_tasks;
	float *values = array_new(n_tasks * n, sizeof *values);
	int status = values ? r->from->load(r->from, m, values, err) : error_sys(err, -ENOMEM, NULL, NULL);

	if (!status && isnan(r->share)) {
		r->spread[m] = array_new(n_tasks * n, sizeof *r->spread[m]);
		if (!r->spread[m])
			status = error_sys(err, -ENOMEM, NULL, NULL);
		for (size_t i = 0; r->spread[m] && i < n_tasks * n; i++)
			r->spread[m][i] = NAN;
	}
	for (size_t task = 0; !status && task < n_tasks; task++) {
		status = repeat_series(r, values + task * n, r->spread[m] ? r->spread[m] + task * n : NULL);
		if (status)
			error_sys(err, status, NULL, NULL);
	}
	if (status)
		free(values);
	else
		r->values[m] = values;
	return status;
}

static int load(const struct builds *builds, enum metric m, float *values, struct error *err)
{
	struct repeated_builds *r = builds->context;
	int status = r->values[m] ? 0 : draw(r, m, err);

	if (!status)
		memcpy(values, r->values[m], builds->n_tasks * builds->n * sizeof *values);
	return status;
}

static int load_row(const struct builds *builds, uint32_t build, enum metric m, float *values,
		    struct error *err)
{
	struct repeated_builds *r = builds->context;
	int status = r->values[m] ? 0 : draw(r, m, err);

	for (size_t task = 0; !status && task < builds->n_tasks; task++)
		values[task] = r->values[m][task * builds->n + build];
	return status;
}

/* Of sets it is what they know; otherwise that of the drawn runs. */
static int load_spread(const struct builds *builds, uint32_t build, enum metric m, float *values,
		       struct error *err)
{
	struct repeated_builds *r = builds->context;

	if (!isnan(r->share))
		return r->from->spread(r->from, build, m, values, err);
	for (size_t task = 0; task < builds->n_tasks; task++)
		values[task] = r->spread[m] ? r->spread[m][task * builds->n + build] : NAN;
	return 0;
}

/* The calibration is a measurement like others: if it kept its noise, it would explain less. */
static int repeat_total(struct repeated_builds *r, enum total total, float *values)
{
	int status;

	for (size_t b = 0; b < r->from->n; b++)
		values[b] = (float)r->from->build[b].total[total];
	status = repeat_series(r, values, NULL);
	for (size_t i = 0; !status && i < r->n_good; i++) {
		if (r->from->build[r->good[i]].total[total] > 0)
			r->builds.build[r->good[i]].total[total] = (int64_t)values[r->good[i]];
	}
	return status;
}

/* The spread of the runs of a metric of the whole build. */
static int set_spread(struct repeated_builds *r, enum metric m, float *values, float *spread)
{
	int status;

	for (size_t b = 0; b < r->from->n; b++) {
		values[b] = (float)metric_total(r->from->build[b].total, m);
		spread[b] = NAN;
	}
	status = repeat_series(r, values, spread);
	for (size_t i = 0; !status && i < r->n_good; i++)
		r->builds.build[r->good[i]].spread[m] = (double)spread[r->good[i]];
	return status;
}

static int repeat_totals(struct repeated_builds *r)
{
	static const enum total totals[] = {
		TOTAL_WALL_US, TOTAL_USER_US, TOTAL_SYSTEM_US, TOTAL_MAX_RSS_KB, TOTAL_PEAK_KB,
		TOTAL_READ_BYTES, TOTAL_WRITTEN_BYTES, TOTAL_HOST_CALIBRATION_START_US,
		TOTAL_HOST_CALIBRATION_END_US,
	};
	float *values = array_new(2 * r->from->n, sizeof *values);
	int status = values ? 0 : -ENOMEM;

	for (enum metric m = 0; !status && isnan(r->share) && m < METRICS; m++)
		status = set_spread(r, m, values, values + r->from->n);
	for (size_t i = 0; !status && i < ARRAY_SIZE(totals); i++)
		status = repeat_total(r, totals[i], values);
	for (size_t i = 0; i < r->n_good; i++)
		r->builds.build[r->good[i]].runs = r->runs;
	free(values);
	return status;
}

/*
 * The share of one metric, from the median task. A median of n runs has about 1.57 / n of the
 * variance of one. runs[build * n_tasks + task]: the spread of runs.
 */
static int find_share(struct repeated_builds *r, enum metric m, struct error *err)
{
	const struct builds *from = r->from;
	float *values = array_new(from->n_tasks * from->n + 1, sizeof *values);
	float *runs = array_new(from->n_tasks * from->n + 1, sizeof *runs);
	double *share = array_new(from->n_tasks + 1, sizeof *share), *work = array_new(from->n + 1, sizeof *work);
	size_t n = 0;
	int status = values && runs && share && work ? from->load(from, m, values, err) :
		     error_sys(err, -ENOMEM, NULL, NULL);

	for (uint32_t b = 0; !status && b < from->n; b++) {
		for (size_t task = 0; task < from->n_tasks; task++)
			runs[b * from->n_tasks + task] = NAN;
		if (from->build[b].runs > 1)
			status = from->spread(from, b, m, runs + b * from->n_tasks, err);
	}
	for (size_t task = 0; !status && task < from->n_tasks; task++) {
		size_t known = 0, sets = 0;
		double within, noise;

		if ((status = take_series(r, values + task * from->n))) {
			error_sys(err, status, NULL, NULL);
			break;
		}
		for (size_t i = 0; i < r->n_good; i++) {
			double part = (double)runs[r->good[i] * from->n_tasks + task] / r->level[i];

			if (part >= 0)
				work[sets++] = part * part * M_PI_2 / from->build[r->good[i]].runs;
		}
		within = stats_median(work, sets);
		for (size_t i = 0; i < r->n_good; i++) {
			if (!isnan(r->deviation[i]))
				work[known++] = r->deviation[i];
		}
		noise = stats_spread(work, known, 0);
		if (sets >= FEWEST && noise > 0)
			share[n++] = fmin(1, within / (noise * noise));
	}
	r->share = status ? NAN : stats_median(share, n);
	free_all(values, runs, share, work);
	return status;
}

int repeated_builds_init(struct repeated_builds *r, const struct builds *from, struct error *err)
{
	uint32_t sets = 1;
	int status;

	*r = (struct repeated_builds){ .builds = *from, .from = from, .share = NAN };
	r->builds.build = array_new(from->n, sizeof *r->builds.build);
	r->good = array_new(from->n, sizeof *r->good);
	r->deviation = array_new(from->n, sizeof *r->deviation);
	r->level = array_new(from->n, sizeof *r->level);
	r->points = changepoints_new();
	if (!r->builds.build || !r->good || !r->deviation || !r->level || !r->points)
		return error_sys(err, -ENOMEM, NULL, NULL);
	memcpy(r->builds.build, from->build, from->n * sizeof *from->build);
	for (uint32_t b = 0; b < from->n; b++) {
		if (from->build[b].total[TOTAL_STATUS] > 0)
			continue;
		r->good[r->n_good++] = b;
		sets = MAX(from->build[b].runs, 1);
	}
	r->runs = REPEATED_TIMES * sets;
	r->builds.load = load;
	r->builds.spread = load_spread;
	r->builds.row = load_row;
	builds_memory_init(&r->memory);
	r->builds.notes = &r->memory.notes;
	r->builds.ran = NULL;
	r->builds.packages = NULL;
	r->builds.join = NULL;
	r->builds.end = NULL;
	r->builds.context = r;
	if (r->n_good <= REPEATED_TIMES)
		return 0;
	if (sets > 1 && from->spread && (status = find_share(r, METRIC_CPU, err)))
		return status;
	status = repeat_totals(r);
	return status ? error_sys(err, status, NULL, NULL) : 0;
}

void repeated_builds_release(struct repeated_builds *r)
{
	for (int m = 0; m < METRICS; m++)
		free_all(r->values[m], r->spread[m]);
	builds_memory_release(&r->memory);
	if (r->from)
		free(r->builds.build);
	free_all(r->good, r->deviation, r->level);
	changepoints_free(r->points);
}
