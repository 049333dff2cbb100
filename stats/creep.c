/* SPDX-License-Identifier: MIT */
#include "stats/creep.h"

#include "base/array.h"
#include "base/minmax.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* Penalties, multiplied by ln(n) and the variance (changepoints.h). A slope has two ends. */
#define STEP_COST 3.0
#define SLOPE_COST 4.5
#define SHORT_COST 6.0		/* as two steps, which look like a short slope */
#define SHORT 28		/* builds */

#define PLACES 48		/* at which each end of a slope is tried */
#define FEW 8			/* steps; of more, not every number is tried */

struct creep_finder {
	size_t cap;
	double *sum;		/* of the first i values */
	double *moment;		/* of the first i values, each times its index */
	double *rest;		/* of each level: residuals, or less with one more step */
	struct creep *list;
	size_t n;
	struct changepoints_view view;
	const struct changepoints *points;
	const struct change *change;
};

struct creep_finder *creep_finder_new(void)
{
	return calloc(1, sizeof(struct creep_finder));
}

void creep_finder_free(struct creep_finder *f)
{
	if (!f)
		return;
	free_all(f->sum, f->moment, f->rest, f->list, f);
}

static int make_room(struct creep_finder *f, size_t n)
{
	if (n + 1 <= f->cap)
		return 0;
	free_all(f->sum, f->moment, f->rest, f->list);
	f->cap = 0;
	f->sum = array_new(n + 1, sizeof *f->sum);
	f->moment = array_new(n + 1, sizeof *f->moment);
	f->rest = array_new(n, sizeof *f->rest);
	f->list = array_new(n, sizeof *f->list);
	if (!f->sum || !f->moment || !f->rest || !f->list)
		return -ENOMEM;
	f->cap = n + 1;
	return 0;
}

/* The level is `from` up to index a and `until` from index b. */
struct slope {
	size_t a, b;
	double from, until;
	double rest;		/* sum of squared residuals */
	double cost;		/* with the penalty */
};

/* The levels that fit the values of [begin, end) best; `all` is the sum of their squares
 * around the mean. */
static struct slope fit(const struct creep_finder *f, size_t begin, size_t end, double all,
			size_t a, size_t b)
{
	double n = end - begin, length = b - a, after = end - b;
	double sum = f->sum[end] - f->sum[begin];
	/* sums of the position on the slope (0 to 1), its square, and position times value */
	double way = (length - 1) / 2 + after;
	double squares = (length - 1) * (2 * length - 1) / (6 * length) + after;
	double products = (f->moment[b] - f->moment[a] - a * (f->sum[b] - f->sum[a])) / length +
			  f->sum[end] - f->sum[b];
	double spread = squares - way * way / n, rise = 0;
	struct slope s = { .a = a, .b = b, .rest = all };

	if (spread > 0) {
		rise = (products - sum * way / n) / spread;
		s.rest = all - rise * rise * spread;
	}
	s.from = (sum - rise * way) / n;
	s.until = s.from + rise;
	return s;
}

/* cost: of a penalty of 1 */
static struct slope best_slope(const struct creep_finder *f, size_t begin, size_t end, double cost,
			       size_t places)
{
	double all = partition_rest(f->view.partition, begin, end);
	size_t stride = (end - begin + places - 1) / places;
	struct slope best = { .cost = INFINITY };

	for (size_t a = begin; a + CREEP_SHORTEST <= end; a += stride) {
		for (size_t b = a + CREEP_SHORTEST; ; b += stride) {
			struct slope s = fit(f, begin, end, all, a, MIN(b, end));

			s.cost = s.rest + cost * (s.b - s.a < SHORT ? SHORT_COST : SLOPE_COST);
			if (s.cost < best.cost)
				best = s;
			if (b >= end)
				break;
		}
	}
	return best;
}

static size_t end_of(const struct changepoints_view *v, size_t level)
{
	return level + 1 < v->n_levels ? v->start[level + 1] : v->n;
}

/* The residuals of a level, and the cost of a step in it if that is better: changepoints.h has no
 * level as short as this between two steps, but it is not a slope. */
static double rest_of_level(const struct creep_finder *f, size_t level, double step)
{
	const struct partition *p = f->view.partition;
	size_t begin = f->view.start[level], end = end_of(&f->view, level);
	double least = partition_rest(p, begin, end);

	for (size_t at = begin + CHANGEPOINTS_SHORTEST; at + CHANGEPOINTS_SHORTEST <= end; at++)
		least = fmin(least, partition_rest(p, begin, at) + partition_rest(p, at, end) + step);
	return least;
}

static double unit_cost(const struct creep_finder *f)
{
	return log(f->view.n) * f->view.inflation;
}

/* How much better a slope fits than the steps [i, j]; step i begins level i + 1. */
static double gain(const struct creep_finder *f, size_t i, size_t j, struct slope *slope,
		   size_t places)
{
	const struct changepoints_view *v = &f->view;
	double cost = unit_cost(f), steps = STEP_COST * (j - i + 1) * cost;

	*slope = best_slope(f, v->start[i], end_of(v, j + 1), cost, places);
	for (size_t k = i; k <= j + 1; k++)
		steps += f->rest[k];
	return steps - slope->cost;
}

static struct change change_of(const struct creep_finder *f, const struct slope *s, size_t i,
			       size_t j)
{
	const struct changepoints_view *v = &f->view;
	size_t last = s->b < v->n ? s->b : v->n - 1;
	double p = 1;

	for (size_t k = i; k <= j; k++)
		p = fmin(p, f->change[k].p);
	return (struct change){
		.at = v->build[s->a + (last - s->a) / 2],
		.first = v->build[s->a], .last = v->build[last],
		.before = changepoints_amount(f->points, s->from),
		.after = changepoints_amount(f->points, s->until),
		.effect = changepoints_effect(f->points, s->from, s->until),
		.p = fmin(1, p * (j - i + 1)),
	};
}

static bool same_way(const struct change *a, const struct change *b)
{
	return (a->after > a->before) == (b->after > b->before);
}

/* The end of the steps from i on that have its direction. */
static size_t end_of_run(const struct creep_finder *f, size_t i, size_t end)
{
	size_t j = i + 1;

	while (j < end && same_way(&f->change[i], &f->change[j]))
		j++;
	return j;
}

/* The next number of steps to try: each one up to FEW, then half as many more, then all. */
static size_t next_number(size_t n, size_t all)
{
	size_t more = n < FEW ? n + 1 : n + n / 2;

	return n < all && more > all ? all : more;
}

/* Replaces the steps of [begin, end) by the slope that fits best, then continues on both
 * sides of it. */
static void find_slopes(struct creep_finder *f, size_t begin, size_t end)
{
	double most = 0;
	struct slope best = { 0 };
	size_t from = 0, until = 0;

	for (size_t i = begin; i < end; i++) {
		size_t all = end_of_run(f, i, end) - i;

		for (size_t n = 1; n <= all; n = next_number(n, all)) {
			struct slope s;
			double g = gain(f, i, i + n - 1, &s, n > FEW ? PLACES / 2 : PLACES);

			if (g > most) {
				most = g;
				best = s;
				from = i;
				until = i + n - 1;
			}
		}
	}
	if (!(most > 0))
		return;
	if (until - from >= FEW)
		gain(f, from, until, &best, PLACES);
	find_slopes(f, begin, from);
	f->list[f->n++] = (struct creep){ from, until + 1, change_of(f, &best, from, until) };
	find_slopes(f, until + 1, end);
}

int creep_find(struct creep_finder *f, const struct creep **list, size_t *n_list,
	       const struct changepoints *c, const struct change *change, size_t n_changes)
{
	*list = NULL;
	*n_list = f->n = 0;
	if (!n_changes)
		return 0;
	f->points = c;
	f->change = change;
	changepoints_view(&f->view, c);
	if (make_room(f, f->view.n))
		return -ENOMEM;
	f->sum[0] = f->moment[0] = 0;
	for (size_t i = 0; i < f->view.n; i++) {
		f->sum[i + 1] = f->sum[i] + f->view.calm[i];
		f->moment[i + 1] = f->moment[i] + f->view.calm[i] * i;
	}
	for (size_t k = 0; k < f->view.n_levels; k++)
		f->rest[k] = rest_of_level(f, k, STEP_COST * unit_cost(f));
	find_slopes(f, 0, n_changes);
	*list = f->list;
	*n_list = f->n;
	return 0;
}
