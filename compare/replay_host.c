/* SPDX-License-Identifier: MIT */
#include "compare/replay.h"

#include "base/array.h"
#include "base/minmax.h"
#include "stats/distribution.h"
#include "stats/level.h"
#include "stats/stats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FEWEST_TASKS 10		/* from which their common factor is known */
#define NEAR 2.5		/* standard deviations around the factor that agree with it */
#define LEAST_NEAR 0.01
#define LEAST_PEAK 0.004	/* half of the width of a peak */
#define VALLEY 0.5		/* of the smaller peak: more is one cluster */
#define PEAK_STEPS 4
#define CLUSTER 6		/* one task of so many that agree can be those that did not change */
#define ALL_MOVED 0.025		/* of few tasks, each moved by at least this */
#define ALIKE_MOVED 0.25	/* and by this part of what their median moved by */
#define LEAST_NOISE 0.01	/* of totals and factors */
#define LEAST_OF_GROUP 0.002
#define FEWEST_AGAIN 3
#define FEWEST_SIDE 15		/* tasks that are faster, or slower, than the common factor */
#define NORMAL_MEDIAN 0.6745
#define SURELY 3.0		/* times the root of the number of tasks: less is chance */
#define LEAST_BEYOND 0.03	/* of the common factor */
#define ALIKE_BEYOND 0.7	/* part of a deviation that is one like it */
#define FEWEST_BEYOND 3		/* builds with one like it, which make it a usual one */
#define LEAST_SETTLED 0.05
#define ALIKE_PRIOR 10		/* builds that a correlation of one half counts as */
#define COUNTED 3		/* builds that make a window less probable: drift lasts longer */
#define OWN_PRIOR 0.1		/* builds that a total deviates by any amount in */
#define ALIKE_MOST 0.9

/* The middle of the values in [low, high] of a sorted array, and their number. */
static double middle_of(const double *v, size_t n, double low, double high, size_t *found)
{
	size_t begin = 0, end = n;

	while (begin < n && v[begin] < low)
		begin++;
	while (end > begin && v[end - 1] > high)
		end--;
	*found = end - begin;
	return stats_median_sorted(v + begin, end - begin);
}

/* The value with the most others within `near`, leaving out those around `but`. */
static double densest(const double *v, size_t n, double near, double but, size_t *found)
{
	double best = NAN;
	size_t end = 0;

	*found = 0;
	for (size_t i = 0; i < n; i++) {
		if (fabs(v[i] - but) < 3 * near)
			continue;
		end = MAX(i, end);
		while (end < n && v[end] <= v[i] + 2 * near && !(fabs(v[end] - but) < 3 * near))
			end++;
		if (end - i > *found) {
			*found = end - i;
			best = 0.5 * (v[i] + v[end - 1]);
		}
	}
	return best;
}

/* How many values are within `half` of a place. */
static size_t count_near(const double *v, size_t n, double at, double half)
{
	size_t found = 0;

	for (size_t i = 0; i < n; i++)
		found += fabs(v[i] - at) <= half;
	return found;
}

/* The fewest values in a window of this half width between two places. */
static size_t valley_of(const double *v, size_t n, double low, double high, double half)
{
	size_t least = n;

	for (double at = low + half; at < high; at += 0.5 * half)
		least = MIN(least, count_near(v, n, at, half));
	return least;
}

/*
 * Two peaks of the deviations with a valley between them that is no chance: some tasks changed, by less
 * than would keep their clusters apart. Returns whether there are, with the number of values around each.
 */
static bool find_peaks(const double *v, size_t n, double noise, double peak[2], size_t around[2])
{
	double half = fmax(noise, LEAST_PEAK), valley;
	size_t first, second;

	peak[0] = densest(v, n, half, NAN, &first);
	peak[1] = densest(v, n, half, peak[0], &second);
	if (!second)
		return false;
	valley = (double)valley_of(v, n, fmin(peak[0], peak[1]), fmax(peak[0], peak[1]), half);
	if (valley > VALLEY * (double)second ||
	    (double)second - valley < SURELY * sqrt((double)second + valley))
		return false;
	around[0] = around[1] = 0;
	for (size_t i = 0; i < n; i++)
		around[fabs(v[i] - peak[1]) < fabs(v[i] - peak[0])]++;
	return true;
}

/* The middle of a cluster, from a peak and half of the distance to the other one. */
static double middle_of_peak(const double *v, size_t n, double peak, double half)
{
	size_t found;

	for (int i = 0; i < PEAK_STEPS; i++)
		peak = middle_of(v, n, peak - half, peak + half, &found);
	return peak;
}

/*
 * The common factor from the sorted deviations of tasks. Tasks agree around one value, or, if some
 * changed, around two. Then it is the one nearer to what the machine did, so that a change of
 * most tasks is not attributed to the machine while others do not show it.
 */
static double common_of(const double *v, size_t n, double noise, double machine)
{
	double near = fmax(NEAR * noise, LEAST_NEAR), most, other, peak[2];
	size_t found, second, around[2];

	if (n < FEWEST_TASKS) {
		double middle = stats_median_sorted(v, n);
		double least = fmax(ALL_MOVED, ALIKE_MOVED * fabs(middle));

		return n > 1 && (v[0] > least || v[n - 1] < -least) ? middle : 0;
	}
	if (find_peaks(v, n, noise, peak, around) && MIN(around[0], around[1]) * CLUSTER >= n) {
		int machines = fabs(peak[1] - machine) < fabs(peak[0] - machine);

		return middle_of_peak(v, n, peak[machines], fmin(near, 0.5 * fabs(peak[0] - peak[1])));
	}
	most = densest(v, n, near, NAN, &found);
	other = densest(v, n, near, most, &second);
	if (second * CLUSTER >= n && fabs(other - machine) < fabs(most - machine))
		most = other;
	return middle_of(v, n, most - near, most + near, &found);
}

/* The logarithm of how much larger than usual the machine made this metric, 0: unknown. */
static double machine_at(struct replay *r, size_t metric, uint32_t build)
{
	double now = build_machine(&r->builds->build[build], r->metric[metric]);
	double *v, usual;
	size_t n = 0;

	r->machine[metric][build] = now;
	v = array_new(build + 1, sizeof *v);
	if (!v)
		return NAN;
	for (uint32_t b = build; b-- > 0 && n < r->cap; ) {
		if (!isnan(r->machine[metric][b]))
			v[n++] = r->machine[metric][b];
	}
	usual = stats_median(v, n);
	free(v);
	return isnan(now) || isnan(usual) ? 0 : now - usual;
}

/*
 * How much farther than usual tasks are from the common factor: what the machine does differs from
 * task to task. The smaller one of both sides, as tasks that changed are on one. Overwrites off.
 */
static double wider_of(double *off, const double *noise, size_t n, double factor)
{
	double *above = off, *end = off + n, sides[2], wider;
	size_t n_above = 0, n_below = 0;

	for (size_t i = 0; i < n; i++)
		off[i] = (off[i] - factor) / noise[i];
	stats_sort(off, n);
	while (above < end && *above < 0) {
		*above = -*above;
		above++;
		n_below++;
	}
	n_above = n - n_below;
	if (n_above < FEWEST_SIDE || n_below < FEWEST_SIDE)
		return 1;
	sides[0] = stats_median(off, n_below);
	sides[1] = stats_median(above, n_above);
	wider = fmin(sides[0], sides[1]) / NORMAL_MEDIAN;
	return wider < 1 + SURELY / sqrt(n) ? 1 : wider;
}

/* Whether the factor of a build is farther off than its level had it, except in few builds. */
static bool is_beyond(struct replay *r, size_t m, uint32_t build)
{
	struct replay_lone *lone = &r->lone[r->n_metrics + m];
	uint32_t row = r->host_row + (uint32_t)m;
	size_t n = replay_values(r, row, r->row[row].begin, build, r->cap, lone->work), alike = 0;
	double usual = n ? stats_median(lone->work, n) : 0, off = r->factor[m][build] - usual;

	if (fabs(off) < LEAST_BEYOND)
		return false;
	for (size_t i = 0; i < n; i++)
		alike += (lone->work[i] - usual) / off > ALIKE_BEYOND;
	return alike < FEWEST_BEYOND;
}

/* Whether the common factor was at the level of a step before: a machine that is throttled at times,
 * say, has two. */
static bool is_known_level(struct replay *r, const struct replay_step *s)
{
	struct replay_lone *lone = &r->lone[s->row - r->total_row];
	size_t n = replay_values(r, s->row, 0, s->since, r->cap, lone->work), alike = 0;

	for (size_t i = 0; i < n; i++)
		alike += fabs(lone->work[i] - s->now) < (1 - ALIKE_BEYOND) * fabs(s->now - s->before);
	return alike >= FEWEST_BEYOND;
}

/* A new level of the common factor that lasts is a new machine or the like: tasks are compared with
 * their values on it afterwards. */
void replay_host_settle(struct replay *r, uint32_t build)
{
	for (size_t m = 0; m < r->n_metrics; m++) {
		const struct replay_row *host = &r->row[r->host_row + m];
		const struct replay_step *s = host->step ? &r->step[host->step - 1] : NULL;
		double v[REPLAY_SETTLED + 1], level;
		size_t n;

		if (!s || s->closed || fabs(s->now - s->before) < LEAST_SETTLED)
			continue;
		n = replay_values(r, s->row, s->since, build + 1, REPLAY_SETTLED + 1, v);
		if (n != REPLAY_SETTLED || isnan(replay_x(r, s->row, build)) || is_known_level(r, s))
			continue;
		level = stats_median(v, n);
		r->settled[m].begin = s->since;
		r->settled[m].restarted = build + 1;
		r->settled[m].level = level;
		for (uint32_t task = 0; task < r->n_tasks; task++) {
			uint32_t row = task * (uint32_t)r->n_metrics + (uint32_t)m;

			if (r->row[row].begin < s->since)
				replay_restart(r, row, s->since, build + 1);
			replay_response_settle(r, row, level);
		}
	}
}

int replay_host(struct replay *r, uint32_t build)
{
	double *off = array_new(4 * HOSTFACTOR_TASKS, sizeof *off);
	double *noise = off + HOSTFACTOR_TASKS, *sorted_off = noise + HOSTFACTOR_TASKS;
	double *work = sorted_off + HOSTFACTOR_TASKS;

	for (size_t m = 0; off && m < r->n_metrics; m++) {
		double machine, sets;
		size_t n = 0;

		r->factor[m][build] = 0;
		r->common[m][build] = (struct replay_common){ .wider = 1 };
		if (m >= r->n_times)
			continue;
		machine = machine_at(r, m, build);
		if (isnan(machine)) {
			free(off);
			return -ENOMEM;
		}
		for (size_t i = 0; i < r->n_longest[m]; i++) {
			uint32_t task = r->longest[m][i];
			const struct replay_row *row = &r->row[task * r->n_metrics + m];
			const float *sorted = r->sorted + (task * r->n_metrics + m) * r->cap;
			double x = (double)r->x[m][(size_t)(build - r->first) * r->n_tasks + task];

			if (isnan(x) || row->n < FEWEST_AGAIN)
				continue;
			noise[n] = sqrt(stats_shrink(&r->prior[m][row->group],
						     (double)row->variance, (double)row->df) *
					(1 + REPLAY_MEDIAN_ERROR * r->inflation[m] / row->n));
			off[n++] = x - (double)level_middle(sorted, row->n);
		}
		if (!n)
			continue;
		sets = replay_sets_wider(r, m, 0, build, build);
		for (size_t i = 0; i < n; i++)
			noise[i] *= sets;
		memcpy(sorted_off, off, n * sizeof *off);
		memcpy(work, noise, n * sizeof *off);
		stats_sort(sorted_off, n);
		r->factor[m][build] = common_of(sorted_off, n, stats_median(work, n), machine);
		r->common[m][build].wider = (float)wider_of(off, noise, n, r->factor[m][build]);
		r->common[m][build].beyond = is_beyond(r, m, build);
	}
	free(off);
	return off ? 0 : -ENOMEM;
}

double replay_alike(const double *v, size_t n, double middle)
{
	double both = 0, all = 0;

	for (size_t i = 0; i < n; i++) {
		all += (v[i] - middle) * (v[i] - middle);
		if (i)
			both += (v[i] - middle) * (v[i - 1] - middle);
	}
	both = all > 0 ? both / all : 0;
	both = (n * both + ALIKE_PRIOR * 0.5) / (n + ALIKE_PRIOR);
	return fmin(ALIKE_MOST, fmax(0, both));
}

/*
 * The window's weakest deviation, of long windows the second weakest, by Student's distribution. If
 * builds were independent, the probability of k of them would be its k-th power; as far as
 * consecutive ones are alike, it is less.
 */
double replay_p(const struct replay_noise *noise, double *z, size_t k, int way)
{
	size_t weakest = k > 4, counted;
	double off, p;

	stats_sort(z, k);
	off = way == REPLAY_UP ? z[weakest] : -z[k - 1 - weakest];
	counted = MIN(k - weakest, COUNTED);
	if (!(off > 0))
		return 1;
	p = stats_t_tail(off, noise->df);
	if (noise->usual)
		p = fmax(p, deviations_share(noise->usual, off, way == REPLAY_DOWN));
	if (noise->n_own) {
		double own = noise->prior;

		for (size_t i = 0; i < noise->n_own; i++)
			own += (way == REPLAY_UP ? noise->own[i] : -noise->own[i]) >= off;
		p = fmax(p, own / (noise->n_own + 1.0));
	}
	return pow(p, 1 + (counted - 1) * (1 - noise->alike));
}

/* Tests a total, a common factor or a group by itself. */
void replay_lone_row(struct replay *r, uint32_t index, uint32_t build)
{
	struct replay_lone *lone = &r->lone[index - r->total_row];
	struct replay_row *row = &r->row[index];
	uint32_t least = row->again ? FEWEST_AGAIN : (uint32_t)r->rules->least_history;
	bool shared = index >= r->shared_row, host = !shared && index >= r->host_row;
	double finest = shared ? LEAST_OF_GROUP : LEAST_NOISE, v[REPLAY_RING];

	row->judged = false;
	for (size_t w = 0; w < REPLAY_SPANS; w++)
		lone->p[REPLAY_UP][w] = lone->p[REPLAY_DOWN][w] = 1;
	if (isnan(replay_x(r, index, build)))
		return;
	for (size_t w = 0; w < REPLAY_SPANS; w++) {
		size_t k = replay_values(r, index, row->begin, build + 1, r->window[w], v), n;
		double *old = lone->work, middle, spread, variance, df, near;

		if (k < r->window[w])
			continue;
		n = replay_values(r, index, row->begin,
				  replay_start(r, index, build, w), r->cap, old);
		if (n < least || n < FEWEST_AGAIN)
			continue;
		near = replay_alike(old, n, stats_mean(old, n));
		middle = stats_median(old, n);
		memcpy(lone->other, old, n * sizeof *old);
		spread = stats_spread(lone->other, n, middle) * (1 + 1.0 / n);
		variance = fmax(replay_variance(row, spread, n, &df), finest * finest);
		if (!w) {
			row->variance = (float)variance;
			row->df = (float)df;
		}
		lone->inflation = (1 + near) / (1 - near);
		spread = sqrt(variance * (1 + REPLAY_MEDIAN_ERROR * lone->inflation / n)) *
			fmax(1, replay_sets_wider(r, replay_metric(r, index), row->begin,
						  replay_start(r, index, build, w), build));
		lone->middle[w] = middle;
		lone->spread[w] = spread;
		lone->n[w] = (uint32_t)n;
		row->judged = true;
		for (size_t i = 0; i < k; i++)
			v[i] = (v[i] - middle) / spread;
		for (size_t i = 0; i < n; i++)
			old[i] = (old[i] - middle) / spread;
		for (int way = 0; way < 2; way++)
			lone->p[way][w] = replay_p(&(struct replay_noise){
				.df = df, .alike = near, .own = old, .n_own = n,
				.prior = host ? 0 : OWN_PRIOR,
			}, v, k, way);
	}
}

void replay_lone(struct replay *r, uint32_t build)
{
	replay_shared_look(r, build);
	for (uint32_t row = r->total_row; row < r->n_rows; row++) {
		r->row[row].judged = false;
		if (row < r->shared_row || replay_shared_worth(r, row))
			replay_lone_row(r, row, build);
	}
}
