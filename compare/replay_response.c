/* SPDX-License-Identifier: MIT */
#include "compare/replay.h"

#include <string.h>

#define KEPT 0.975		/* weight of a build at the next one */
#define MOST_SLOPE 2.0		/* of a task alone */
#define FEWEST 4		/* builds */
#define LEAST_FACTOR 1e-6	/* variance of factors that say something */
#define LEAST_VARIANCE 0.05	/* of a slope: more accurate ones have no larger weight */
#define MOST 2			/* standard errors */
#define UNKNOWN 0.09		/* variance of slopes that nothing is known about */
#define DOUBT 2.0		/* by which the variance of what remains is larger */

/* Of a time; other metrics have none. */
static struct replay_response *response_of(const struct replay *r, uint32_t row)
{
	return &r->response[row / r->n_metrics * r->n_times + replay_metric(r, row)];
}

static float *value_at(struct replay *r, size_t m, uint32_t task, uint32_t build)
{
	return &r->x[m][(size_t)(build - r->first) * r->n_tasks + task];
}

/* The slope of a task as its own builds show it, and its variance. */
static bool slope_of(const struct replay_response *of, double noise, double *slope, double *variance)
{
	if (of->weight < FEWEST || of->squares < LEAST_FACTOR)
		return false;
	*slope = (double)(of->products / of->squares);
	*slope = fmax(-MOST_SLOPE, fmin(*slope, MOST_SLOPE));
	*variance = noise / (double)of->squares;
	return true;
}

void replay_response_estimate(struct replay *r)
{
	for (size_t m = 0; m < r->n_times; m++) {
		double sum = 0, weights = 0, errors = 0;

		for (uint32_t task = 0; task < r->n_tasks; task++) {
			double slope, variance, weight;
			uint32_t row = task * (uint32_t)r->n_metrics + (uint32_t)m;

			if (!slope_of(response_of(r, row), (double)r->row[row].own, &slope, &variance))
				continue;
			weight = 1 / ((LEAST_VARIANCE + variance) * (LEAST_VARIANCE + variance));
			sum += weight * (slope * slope - variance);
			weights += weight;
			errors += 2 * weight * weight * variance * variance;
		}
		r->unlike[m] = weights > 0 ? fmax(0, sum / weights) : 0;
		r->unlike_most[m] = weights > 0 ? r->unlike[m] + MOST * sqrt(errors) / weights :
				    UNKNOWN;
	}
}

double replay_response_apply(struct replay *r, uint32_t row, uint32_t build)
{
	struct replay_response *of = response_of(r, row);
	size_t m = replay_metric(r, row);
	float *x = value_at(r, m, row / (uint32_t)r->n_metrics, build);
	double slope, variance, unlike = r->unlike[m], most = r->unlike_most[m];
	double off = r->factor[m][build] - (double)of->mean_factor;

	of->applied = 0;
	if (!(most > 0) || of->weight < 1)
		return 0;
	if (r->common[m][build].beyond || !slope_of(of, (double)r->row[row].own, &slope, &variance))
		return DOUBT * most * off * off;
	of->applied = (float)(slope * unlike / (unlike + variance) * off);
	*x -= of->applied;
	return DOUBT * most * variance / (most + variance) * off * off;
}

static void add(struct replay_response *of, double factor, double off)
{
	double weight = KEPT * (double)of->weight + 1;

	factor -= (double)of->mean_factor;
	off -= (double)of->mean_off;
	of->weight = (float)weight;
	of->mean_factor += (float)(factor / weight);
	of->mean_off += (float)(off / weight);
	of->squares = (float)(KEPT * (double)of->squares + factor * factor * (1 - 1 / weight));
	of->products = (float)(KEPT * (double)of->products + factor * off * (1 - 1 / weight));
}

void replay_response_add(struct replay *r, uint32_t row, uint32_t build, double off)
{
	struct replay_response *of = response_of(r, row);
	size_t m = replay_metric(r, row);
	uint32_t keep = r->common[m][build].beyond ? REPLAY_SETTLED - 1 : 0;

	for (; of->n > keep; of->n--) {
		add(of, (double)of->late[0].factor, (double)of->late[0].off);
		memmove(of->late, of->late + 1, (REPLAY_SETTLED - 1) * sizeof *of->late);
	}
	of->late[of->n].factor = (float)r->factor[m][build];
	of->late[of->n++].off = (float)off + of->applied;
}

/* The common factor has this level now, from which responses are measured. */
void replay_response_settle(struct replay *r, uint32_t row, double factor)
{
	struct replay_response *of = response_of(r, row);

	of->mean_factor = (float)factor;
	of->mean_off = 0;
	of->n = 0;
}

bool replay_response_restore(struct replay *r, uint32_t row, uint32_t begin, uint32_t end, double level,
			     double spread)
{
	struct replay_response *of = response_of(r, row);
	size_t m = replay_metric(r, row);
	uint32_t task = row / (uint32_t)r->n_metrics;
	double slope, variance, unlike = r->unlike[m], most = (double)REPLAY_CLIP * spread;

	for (uint32_t b = begin; b < end; b++) {
		double off = replay_task_x(r, m, task, b) - level;

		if (!isnan(off))
			add(of, r->factor[m][b], fmax(-most, fmin(off, most)));
	}
	if (!(unlike > 0) || !slope_of(of, spread * spread, &slope, &variance))
		return false;
	for (uint32_t b = begin; b < end; b++) {
		double off = r->factor[m][b] - (double)of->mean_factor;

		if (!r->common[m][b].beyond)
			*value_at(r, m, task, b) -= (float)(slope * unlike / (unlike + variance) * off);
	}
	return true;
}
