/* SPDX-License-Identifier: MIT */
#include "compare/replay.h"

#include "base/array.h"
#include "base/minmax.h"
#include "stats/level.h"
#include "stats/stats.h"

#include <errno.h>
#include <stdlib.h>

#define MAD_WORTH 0.37		/* degrees of freedom of a median distance, a value */
#define LEAST_NOISE 1e-3	/* relative precision of any measurement */
#define FEWEST 3		/* values of a reference, and of one after a step */
#define FEWEST_AGAIN 2
#define MOST_NOISE_DF 20	/* that the noise from before counts as */
#define GROUP_LEAST 40		/* tasks */
#define CHANGING 6		/* values of a reference that is measured at every build */
#define USUAL 1.3f		/* standard deviations of a sum without evidence */
#define LN_SHIFTS 2.77f		/* ln(DEVIATIONS_SHIFTS) */
#define AHEAD 4			/* tasks whose references are fetched from memory in time */

static float *sorted_of(struct replay *r, uint32_t row)
{
	return r->sorted + row * r->cap;
}

static void shrink(const struct replay *r, struct replay_row *row, size_t metric)
{
	double own = stats_shrink(&r->prior[metric][row->group], (double)row->variance,
				  (double)row->df);

	row->own = (float)(own > LEAST_NOISE * LEAST_NOISE ? own : LEAST_NOISE * LEAST_NOISE);
}

double replay_variance(const struct replay_row *row, double spread, size_t n, double *df)
{
	double own = spread * spread;

	*df = n > 2 ? fmax(1, MAD_WORTH * (n - 1)) : 0;
	if (row->noise_df > 0) {
		own = ((double)(row->noise_df * row->noise) + *df * own) /
			((double)row->noise_df + *df);
		*df += (double)row->noise_df;
	}
	return own;
}

/* The noise of a row: of its own values, from before its step, and of similar tasks. Only short
 * references are measured at every build: the noise of long ones changes little. */
static void measure_noise(struct replay *r, struct replay_row *row, const float *sorted,
			  size_t metric, bool again, float wider)
{
	float middle = level_middle(sorted, row->n);

	if (again || row->n < CHANGING) {
		double spread = 1.4826 * (double)level_distance(sorted, row->n, middle) *
			(1 + 1.0 / row->n);
		double df, variance = replay_variance(row, spread, row->n, &df);

		row->variance = (float)variance;
		row->df = (float)df;
		shrink(r, row, metric);
	}
	row->middle[row->count % REPLAY_RING] = middle;
	row->spread[row->count % REPLAY_RING] = wider *
		sqrtf(row->own * (1 + (float)(REPLAY_MEDIAN_ERROR * r->inflation[metric]) / row->n));
}

static float median_of(float *v, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		float moved = v[i];
		size_t at = i;

		for (; at && v[at - 1] > moved; at--)
			v[at] = v[at - 1];
		v[at] = moved;
	}
	return level_middle(v, n);
}

/* The median of the newest k values, as a deviation from the level before all of them. */
static float median_off(const struct replay_row *row, uint32_t k)
{
	uint32_t start = row->count + 1 - k;
	float x[REPLAY_RING];

	for (uint32_t i = 0; i < k; i++)
		x[i] = row->x[(start + i) % REPLAY_RING];
	return (median_of(x, k) - row->middle[start % REPLAY_RING]) /
	       row->spread[start % REPLAY_RING];
}

/* ln of the largest likelihood ratio of a shift of the newest k values, each measured from the level
 * before it, as one of so many shifts that were tried. */
static float evidence_of(const struct replay_row *row, const struct deviations *d, uint32_t k,
			 int way)
{
	float gain[DEVIATIONS_SHIFTS] = { 0 }, most;

	for (uint32_t i = 0; i < k; i++) {
		uint32_t slot = (row->count - i) % REPLAY_RING;
		float z = (row->x[slot] - row->middle[slot]) / row->spread[slot];
		const float *add = d->gain[way][deviations_bin(z)];

		for (int s = 0; s < DEVIATIONS_SHIFTS; s++)
			gain[s] += add[s];
	}
	most = gain[0];
	for (int s = 1; s < DEVIATIONS_SHIFTS; s++)
		most = MAX(gain[s], most);
	return most - LN_SHIFTS;
}

/* What the windows say. One whose sum is usual has no evidence; medians are for tasks that are
 * counted. Returns whether there is any evidence. */
static bool look_at_windows(const struct replay *r, const struct replay_row *row,
			    const struct deviations *d, bool counted, struct replay_span *span)
{
	float sum = 0, most = -INFINITY;
	uint32_t k = 0;

	for (size_t w = 0; w < REPLAY_SPANS; w++) {
		uint32_t window = r->window[w];
		float gain;
		int way;

		span->off[w] = NAN;
		span->evidence[w] = 0;
		if (row->count + 1 < window ||
		    isnan(row->spread[(row->count + 1 - window) % REPLAY_RING]))
			continue;
		for (; k < window; k++)
			sum += replay_z(row, row->count - k);
		way = sum < 0 ? REPLAY_DOWN : REPLAY_UP;
		span->off[w] = counted ? median_off(row, window) : sum;
		if (sum * sum < USUAL * USUAL * (float)window)
			continue;
		gain = fmaxf(0, evidence_of(row, d, window, way));
		span->evidence[w] = way == REPLAY_UP ? gain : -gain;
		most = MAX(most, gain);
	}
	return most >= REPLAY_WORTH;
}

/* How far off the newest values are at least, each run of them from the level before it. */
static void look_at_runs(const struct replay_row *row, struct replay_runs *runs)
{
	runs->n = 0;
	for (uint32_t k = 1; k <= STREAKS_MOST && k <= row->count + 1; k++) {
		uint32_t start = row->count + 1 - k;
		float low = INFINITY, high = -INFINITY;

		if (isnan(row->spread[start % REPLAY_RING]))
			return;
		for (uint32_t i = 0; i < k; i++) {
			float z = replay_off(row, start, start + i);

			low = MIN(low, z);
			high = MAX(high, z);
		}
		runs->least[REPLAY_UP][k - 1] = low;
		runs->least[REPLAY_DOWN][k - 1] = -high;
		runs->n++;
	}
}

/* By how much more than those of its reference a row's value of this build can deviate. */
static float wider_of(const struct replay *r, const struct replay_row *row, size_t m, uint32_t build,
		      double doubt)
{
	float wider = r->common[m][build].wider * (float)replay_sets_wider(r, m, row->oldest, build, build);

	return wider * sqrtf(1 + (float)doubt / (wider * wider * row->own));
}

void replay_look(struct replay *r, uint32_t task, uint32_t build)
{
	struct replay_span *span = r->span + task * (r->n_metrics + 1);
	struct replay_span *joined = span + r->n_metrics;
	struct replay_runs *runs = r->runs + task / r->stride * (r->n_metrics + 1);
	bool both = r->joined < r->n_metrics, counted = task % r->stride == 0;

	r->worth[task] = false;
	for (size_t m = 0; m < r->n_metrics; m++) {
		uint32_t index = task * (uint32_t)r->n_metrics + (uint32_t)m, slot;
		struct replay_row *row = &r->row[index];
		double doubt = m < r->n_times ? replay_response_apply(r, index, build) : 0;
		double x = replay_task_x(r, m, task, build);
		uint32_t history = (uint32_t)r->rules->least_history;
		uint32_t least = row->again ? FEWEST_AGAIN : MAX(FEWEST, history);

		if (task + AHEAD < r->n_tasks)
			__builtin_prefetch(sorted_of(r, index + AHEAD * (uint32_t)r->n_metrics) +
					   row->n / 2);
		row->judged = false;
		for (size_t w = 0; w < REPLAY_SPANS; w++)
			span[m].off[w] = NAN;
		if (isnan(x) || build < row->kept) {
			both = both && m != r->joined && m != r->joined + 1;
			continue;
		}
		slot = row->count % REPLAY_RING;
		row->x[slot] = (float)x;
		row->middle[slot] = row->spread[slot] = NAN;
		if (row->n >= least)
			measure_noise(r, row, sorted_of(r, index), m, false,
				      wider_of(r, row, m, build, doubt));
		span[m].alike = NAN;
		if (row->count && !isnan(row->spread[(row->count - 1) % REPLAY_RING])) {
			uint32_t last = (row->count - 1) % REPLAY_RING;

			span[m].alike = replay_z(row, last) *
				replay_clip((row->x[slot] - row->middle[last]) / row->spread[last]);
		}
		if (m < r->n_times && !isnan(row->spread[slot])) {
			float most = REPLAY_CLIP * row->spread[slot];

			replay_response_add(r, index, build,
					    (double)fmaxf(-most, fminf(most, row->x[slot] - row->middle[slot])));
		}
		if (counted)
			look_at_runs(row, &runs[m]);
		if (r->resuming && !counted)
			continue;
		if (look_at_windows(r, row, &r->offset[m][0], counted, &span[m]))
			r->worth[task] = true;
		row->judged = !isnan(span[m].off[0]) || !isnan(span[m].off[1]);
	}
	for (size_t w = 0; w < REPLAY_SPANS; w++) {
		const struct replay_span *a = span + r->joined, *b = a + 1;

		joined->off[w] = NAN;
		if (!both || isnan(a->off[w]) || isnan(b->off[w]))
			continue;
		joined->off[w] = 0;
		/* Both must show it: one alone has its own test. */
		joined->evidence[w] = a->evidence[w] > 0 ? fmaxf(0, 2 * MIN(a->evidence[w], b->evidence[w])) :
			fminf(0, 2 * MAX(a->evidence[w], b->evidence[w]));
		r->worth[task] = r->worth[task] || fabsf(joined->evidence[w]) >= REPLAY_WORTH;
	}
	if (!counted)
		return;
	runs[r->n_metrics].n = 0;
	if (both) {
		const struct replay_runs *a = runs + r->joined, *b = a + 1;
		struct replay_runs *of_both = runs + r->n_metrics;

		of_both->n = MIN(a->n, b->n);
		for (int way = 0; way < 2; way++) {
			for (size_t i = 0; i < of_both->n; i++)
				of_both->least[way][i] = fminf(a->least[way][i], b->least[way][i]);
		}
	}
}

/* Adds the newest value to the reference. */
void replay_keep(struct replay *r, uint32_t index, uint32_t build)
{
	struct replay_row *row = &r->row[index];
	float *sorted = sorted_of(r, index);
	size_t m = index % r->n_metrics;
	uint32_t task = index / (uint32_t)r->n_metrics;
	double x = replay_task_x(r, m, task, build);

	if (isnan(x) || build < row->kept)
		return;
	row->kept = build + 1;
	if (row->n == r->cap) {
		double old;

		while (isnan(old = replay_task_x(r, m, task, row->oldest)))
			row->oldest++;
		level_remove(sorted, row->n--, (float)old);
		row->oldest++;
	}
	level_insert(sorted, row->n++, (float)x);
	row->count++;
}

/* A new level of a row, with the builds [since, end). */
void replay_restart(struct replay *r, uint32_t index, uint32_t since, uint32_t end)
{
	struct replay_row *row = &r->row[index];

	row->begin = row->oldest = since;
	row->restarted = end;
	row->noise = row->variance;
	row->noise_df = fminf(row->df, MOST_NOISE_DF);
	row->again = true;
	row->n = 0;
	row->kept = since;
	if (index >= r->total_row)
		return;
	for (int i = 0; i < REPLAY_RING; i++)
		row->spread[i] = NAN;
	row->count = 0;
	for (uint32_t b = since; b < end; b++)
		replay_keep(r, index, b);
}

/* The values of a task in [begin, end), sorted; returns their number. */
static uint32_t fill(struct replay *r, uint32_t index, uint32_t begin, uint32_t end, float *work)
{
	uint32_t n = 0, task = index / (uint32_t)r->n_metrics;
	size_t m = replay_metric(r, index);

	for (uint32_t b = begin; b < end; b++) {
		work[n] = (float)replay_task_x(r, m, task, b);
		n += !isnan(work[n]);
	}
	level_sort(sorted_of(r, index), work, n);
	return n;
}

/* The same; what they have to do with the common factor is known then, and removed from them. */
static uint32_t fill_with_response(struct replay *r, uint32_t index, uint32_t begin, uint32_t end, float *work)
{
	const float *sorted = sorted_of(r, index);
	uint32_t n = fill(r, index, begin, end, work);
	float middle, spread;

	if (n < FEWEST || replay_metric(r, index) >= r->n_times)
		return n;
	middle = level_middle(sorted, n);
	spread = 1.4826f * level_distance(sorted, n, middle);
	return !replay_response_restore(r, index, begin, end, (double)middle,
					fmax((double)spread, LEAST_NOISE)) ? n : fill(r, index, begin, end, work);
}

void replay_restore(struct replay *r, uint32_t index, uint32_t end, float *work)
{
	struct replay_row *row = &r->row[index];
	const float *sorted = sorted_of(r, index);
	bool later = row->restarted > end;	/* replay_restart() follows */
	uint32_t begin = replay_least(r, index, later ? 0 : row->begin), n;

	for (int i = 0; i < REPLAY_RING; i++)
		row->spread[i] = NAN;
	/* A level of the common factor restarted it: nothing was kept about it alone. */
	if (isnan(row->noise)) {
		float spread = 0;

		n = fill_with_response(r, index, r->first, MIN(row->begin, end), work);
		if (n >= FEWEST)
			spread = 1.4826f * level_distance(sorted, n, level_middle(sorted, n));
		row->noise = spread * spread;
		row->noise_df = n < FEWEST ? 0 : (float)fmin(MAD_WORTH * (n - 1), MOST_NOISE_DF);
		replay_response_settle(r, index, r->settled[replay_metric(r, index)].level);
	}
	n = later ? fill(r, index, begin, end, work) : fill_with_response(r, index, begin, end, work);
	row->n = row->count = n;
	row->oldest = begin;
	row->kept = later ? row->restarted : end;
}

struct by_level {
	float level;
	uint32_t task;
};

static int longer(const void *a, const void *b)
{
	const struct by_level *x = a, *y = b;

	if (x->level != y->level)
		return x->level > y->level ? -1 : 1;
	return x->task < y->task ? -1 : x->task > y->task;
}

/* Groups tasks of similar length, and finds the longest, from which the common factor is
 * estimated. */
static void group(struct replay *r, size_t metric, struct by_level *order, size_t n)
{
	size_t groups = n / GROUP_LEAST;

	groups = groups < 1 ? 1 : MIN(REPLAY_GROUPS, groups);
	qsort(order, n, sizeof *order, longer);
	for (size_t i = 0; i < n; i++)
		r->row[order[i].task * r->n_metrics + metric].group = (uint8_t)(i * groups / n);
	r->n_longest[metric] = MIN(n, HOSTFACTOR_TASKS);
	for (size_t i = 0; i < r->n_longest[metric]; i++)
		r->longest[metric][i] = order[i].task;
}

/* What the tasks of each group share about their noise. */
static void share_noise(struct replay *r, size_t metric, const struct by_level *order, size_t n,
			double *work)
{
	size_t begin[REPLAY_GROUPS + 1] = { 0 }, end[REPLAY_GROUPS];

	for (size_t i = 0; i < n; i++)
		begin[r->row[order[i].task * r->n_metrics + metric].group + 1]++;
	for (size_t g = 0; g < REPLAY_GROUPS; g++)
		end[g] = begin[g + 1] += begin[g];
	for (size_t i = n; i-- > 0; ) {
		const struct replay_row *row = &r->row[order[i].task * r->n_metrics + metric];
		size_t at = --end[row->group];

		work[at] = (double)row->variance;
		work[n + at] = (double)row->df;
	}
	for (size_t g = 0; g < REPLAY_GROUPS; g++)
		r->prior[metric][g] = stats_prior(work + begin[g], work + n + begin[g],
						  begin[g + 1] - begin[g]);
	for (size_t i = 0; i < n; i++)
		shrink(r, &r->row[order[i].task * r->n_metrics + metric], metric);
}

int replay_noise(struct replay *r)
{
	struct by_level *order = array_new(r->n_tasks, sizeof *order);
	double *work = array_new(2 * r->n_tasks, sizeof *work);

	for (size_t m = 0; order && work && m < r->n_metrics; m++) {
		size_t n = 0;

		for (uint32_t task = 0; task < r->n_tasks; task++) {
			uint32_t index = task * (uint32_t)r->n_metrics + (uint32_t)m;
			struct replay_row *row = &r->row[index];
			const float *sorted = sorted_of(r, index);
			float middle;

			if (row->n < FEWEST)
				continue;
			measure_noise(r, row, sorted, m, true, 1);
			middle = row->middle[row->count % REPLAY_RING];
			order[n++] = (struct by_level){ middle, task };
		}
		if (n && r->n_good >= r->grouped)
			group(r, m, order, n);
		share_noise(r, m, order, n, work);
	}
	if (r->n_good >= FEWEST && r->n_good >= r->grouped)
		r->grouped = 2 * r->n_good;
	free(order);
	free(work);
	return order && work ? 0 : -ENOMEM;
}
