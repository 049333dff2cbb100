/* SPDX-License-Identifier: MIT */
#include "stats/changepoints.h"

#include "base/array.h"
#include "base/minmax.h"
#include "stats/distribution.h"
#include "stats/stats.h"
#include "stats/utest.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Fewer values than these have no change point. */
#define FEWEST (CHANGEPOINTS_HELD + CHANGEPOINTS_SHORTEST)

#define LEAST_NOISE 1e-3	/* relative precision of any measurement */
#define CUT_OFF 1.8		/* times the noise, from the builds around it */
#define PASSING 7		/* builds; a level that ends again after them is a disturbance */
#define SPIKE 3			/* times the noise: more says nothing about correlation */
#define WIDE_TAILS 4		/* as of Student's t with 3 degrees of freedom */
#define NORMAL_QUARTER 0.31863936396437514	/* a quarter of |z| is below */
#define PENALTY 3		/* times ln(n) */
#define PRIOR_DF 4		/* degrees of freedom of the series' noise in a test */
#define LEAST_SHARE 0.25	/* minimum variance in a test, as a share of the noise's */
#define MOST_ALIKE 0.7		/* correlation between consecutive builds */
#define STUDENT_P 3e-4
#define RANK_P 1e-2
#define MANY 50			/* values on both sides, for which the ranks are about normal */
#define FARTHEST 1e6		/* in units of the usual size */

struct changepoints {
	size_t cap;
	uint32_t *build;	/* index of each value that is not missing */
	double *value;		/* logarithms, or in units of scale */
	double *calm;		/* clipped, centred on 0, in units of noise */
	double *left, *right;	/* work */
	uint32_t *start;	/* of each level */
	double *weakness;	/* of the cut before each, by Student's test; fails above 1 */
	bool *fails;		/* Student's test or the rank test */
	struct change *change;
	struct partition partition;
	size_t n;
	bool ratios;		/* value is a logarithm */
	double scale;
	double noise;		/* standard deviation */
	double middle;		/* the median */
	double inflation;	/* factor on the variance, at least 1 */
	size_t n_levels;
	double least_effect, least_amount;
};

struct changepoints *changepoints_new(void)
{
	return calloc(1, sizeof(struct changepoints));
}

static void release_finder(struct changepoints *c)
{
	free_all(c->build, c->value, c->calm, c->left, c->right, c->start, c->weakness,
		 c->fails, c->change);
	partition_release(&c->partition);
}

void changepoints_free(struct changepoints *c)
{
	if (c)
		release_finder(c);
	free(c);
}

static int make_room(struct changepoints *c, size_t n)
{
	if (n <= c->cap)
		return 0;
	release_finder(c);
	*c = (struct changepoints){
		.build = array_new(n, sizeof *c->build),
		.value = array_new(n, sizeof *c->value),
		.calm = array_new(n, sizeof *c->calm),
		.left = array_new(n, sizeof *c->left),
		.right = array_new(n, sizeof *c->right),
		.start = array_new(n + 1, sizeof *c->start),
		.weakness = array_new(n + 1, sizeof *c->weakness),
		.fails = array_new(n + 1, sizeof *c->fails),
		.change = array_new(n, sizeof *c->change),
	};
	if (!c->build || !c->value || !c->calm || !c->left || !c->right || !c->start ||
	    !c->weakness || !c->fails || !c->change) {
		release_finder(c);
		*c = (struct changepoints){ 0 };
		return -ENOMEM;
	}
	c->cap = n;
	return 0;
}

static double usual_size(struct changepoints *c)
{
	double size, largest = 0;

	for (size_t i = 0; i < c->n; i++) {
		c->left[i] = fabs(c->value[i]);
		largest = MAX(c->left[i], largest);
	}
	size = stats_median(c->left, c->n);
	return size > 0 ? size : largest;
}

static double within(double x, double low, double high)
{
	return x < low ? low : MIN(high, x);
}

static void take_values(struct changepoints *c, const double *values, size_t n)
{
	c->n = 0;
	c->ratios = true;
	c->scale = 1;
	for (size_t i = 0; i < n; i++) {
		if (!isfinite(values[i]))
			continue;
		c->ratios = c->ratios && values[i] > 0;
		c->build[c->n] = i;
		c->value[c->n++] = values[i];
	}
	if (!c->ratios)
		c->scale = usual_size(c);
	for (size_t i = 0; i < c->n; i++) {
		if (c->ratios)
			c->value[i] = log(c->value[i]);
		else if (c->scale > 0)
			c->value[i] = within(c->value[i] / c->scale, -FARTHEST, FARTHEST);
	}
}

/* If most builds equal the build before, values are multiples of a coarse unit. The noise
 * is then a third of this unit. */
static double coarse_noise(const struct changepoints *c)
{
	double unit = INFINITY;

	for (size_t i = 1; i < c->n; i++) {
		double d = fabs(c->value[i] - c->value[i - 1]);

		unit = d > 0 && d < unit ? d : unit;
	}
	return isinf(unit) ? 0 : unit / 3;
}

/*
 * The spread of the differences between consecutive builds. Often half of them differ by more
 * than the noise: values change between a few levels, or several builds in a row are
 * disturbed. The quarter that differs least then yields less.
 */
static void measure_noise(struct changepoints *c)
{
	size_t n = c->n - 1;
	double quarter;

	for (size_t i = 0; i < n; i++)
		c->left[i] = c->value[i + 1] - c->value[i];
	c->noise = stats_spread(c->left, n, 0) * M_SQRT1_2;
	quarter = stats_median(c->left, n / 2) / NORMAL_QUARTER * M_SQRT1_2;
	if (quarter > 0 && quarter < c->noise)
		c->noise = quarter;
	if (!(c->noise > 0))
		c->noise = coarse_noise(c);
	if (c->noise < LEAST_NOISE)
		c->noise = LEAST_NOISE;
	memcpy(c->left, c->value, c->n * sizeof *c->left);
	c->middle = stats_median(c->left, c->n);
}

/*
 * Clips value i at CUT_OFF times the noise around the median of the builds around it: seven on
 * each side, fewer near an end, of the last two builds at each end the five there. A disturbance
 * of up to seven builds is then clipped as a whole. The median exceeds a limit only if most
 * values do; counting them is faster than the median.
 */
static double clipped(struct changepoints *c, size_t i)
{
	size_t to_end = MIN(i, c->n - 1 - i), half = MIN(to_end, PASSING), n = 2 * half + 1;
	size_t lower = 0, higher = 0;
	const double *v = c->value + i - half;
	double x = c->value[i], most = CUT_OFF * c->noise, around;

	if (to_end < 3) {
		v = c->value + (i < 2 ? 0 : i + 2 < c->n ? i - 2 : c->n - 5);
		n = 5;
	}
	for (size_t k = 0; k < n; k++) {
		lower += v[k] < x - most;
		higher += v[k] > x + most;
	}
	if (lower <= n / 2 && higher <= n / 2)
		return x;
	memcpy(c->left, v, n * sizeof *v);
	around = stats_median(c->left, n);
	return within(x, around - most, around + most);
}

static size_t end_of(const struct changepoints *c, size_t level)
{
	return level + 1 < c->n_levels ? c->start[level + 1] : c->n;
}

static void cut(struct changepoints *c)
{
	c->n_levels = partition_cut(&c->partition, c->start, c->n,
				    PENALTY * log(c->n) * c->inflation, CHANGEPOINTS_SHORTEST);
}

static double unclipped(const struct changepoints *c, size_t i)
{
	return (c->value[i] - c->middle) / c->noise;
}

/*
 * Correlated builds, and builds that vary more than consecutive builds differ, look like
 * levels. The result is the factor by which they raise the variance of the noise. The
 * correlation is that of values before they were clipped, because an excursion of correlated
 * builds is clipped as a disturbance is. The residuals correlate less than the builds, because
 * each level takes its mean from them.
 */
static double inflation_of(const struct changepoints *c)
{
	double squares = 0, bounded = 0, products = 0, before = 0, alike;

	for (size_t k = 0; k < c->n_levels; k++) {
		double mean = partition_mean(&c->partition, c->start[k], end_of(c, k));

		for (size_t i = c->start[k]; i < end_of(c, k); i++) {
			double rest = c->calm[i] - mean;

			squares += rest * rest;
			rest = within(unclipped(c, i) - mean, -SPIKE, SPIKE);
			bounded += rest * rest;
			products += rest * before;
			before = rest;
		}
	}
	alike = bounded > 0 ? products / bounded : 0;
	alike += (1 + 3 * alike) * c->n_levels / c->n;
	alike = within(alike, 0, MOST_ALIKE);
	return (1 + alike) / (1 - alike) * fmax(1, squares / c->n);
}

/*
 * The number of positions at which noise could look like the cut before level k: any build
 * of both levels. If the shorter level has another cut at its other end, any run of builds
 * of at most its length.
 */
static double places(const struct changepoints *c, size_t k)
{
	size_t before = c->start[k] - c->start[k - 1], after = end_of(c, k) - c->start[k];
	double builds = before + after;

	if (before < after)
		return k > 1 ? builds * before : builds;
	return k + 1 < c->n_levels ? builds * after : builds;
}

static double student_p(const struct changepoints *c, size_t k)
{
	const struct partition *p = &c->partition;
	size_t begin = c->start[k - 1], at = c->start[k], end = end_of(c, k);
	double n_1 = at - begin, n_2 = end - at, df = PRIOR_DF + n_1 + n_2 - 2;
	double variance = (PRIOR_DF + partition_rest(p, begin, at) +
			   partition_rest(p, at, end)) / df;
	double step = partition_mean(p, at, end) - partition_mean(p, begin, at);

	variance = fmax(variance, LEAST_SHARE) * c->inflation;
	return stats_t_both(step / sqrt(variance * (1 / n_1 + 1 / n_2)), df) * places(c, k);
}

/*
 * Mann and Whitney's test of the values. If level k has few builds, the values before it are
 * clipped, because otherwise one or two old outliers would outvote them. The few builds are
 * not clipped, because otherwise two outliers would lift a third build between them.
 */
static int rank_p(struct changepoints *c, double *p, size_t k)
{
	size_t begin = c->start[k - 1], at = c->start[k], end = end_of(c, k);
	bool calm = end - at < CHANGEPOINTS_HELD;
	int r;

	memcpy(c->left, (calm ? c->calm : c->value) + begin, (at - begin) * sizeof *c->left);
	memcpy(c->right, c->value + at, (end - at) * sizeof *c->right);
	for (size_t i = 0; calm && i < end - at; i++)
		c->right[i] = unclipped(c, at + i);
	stats_sort(c->left, at - begin);
	stats_sort(c->right, end - at);
	if (at - begin < MANY || end - at < MANY)
		r = utest_p(p, c->left, at - begin, c->right, end - at);
	else
		r = utest_p_normal(p, c->left, at - begin, c->right, end - at);
	*p *= places(c, k);
	return r;
}

static double calm_level(const struct changepoints *c, size_t k)
{
	return partition_mean(&c->partition, c->start[k], end_of(c, k));
}

static double level(const struct changepoints *c, size_t k)
{
	return changepoints_amount(c, calm_level(c, k));
}

static double effect(const struct changepoints *c, size_t k)
{
	return changepoints_effect(c, calm_level(c, k - 1), calm_level(c, k));
}

/*
 * The ranks of a few builds say little, even of a clear change. The rank test can therefore
 * reject a cut but does not count in its weakness.
 */
static int test_cut(struct changepoints *c, size_t k)
{
	double student = student_p(c, k) / STUDENT_P, rank = 0;
	int r = 0;

	if (fabs(effect(c, k)) < c->least_effect ||
	    fabs(level(c, k) - level(c, k - 1)) < c->least_amount)
		student = INFINITY;
	if (student <= 1)
		r = rank_p(c, &rank, k);
	c->weakness[k] = student;
	c->fails[k] = student > 1 || rank > RANK_P;
	return r;
}

static bool is_disturbance(const struct changepoints *c, size_t k)
{
	size_t n = end_of(c, k) - c->start[k];

	return k + 1 < c->n_levels && (k ? n <= PASSING : n < CHANGEPOINTS_HELD);
}

/* The cut to remove, 0 for no cut: the weakest that fails, otherwise the weakest beside a
 * disturbance. */
static size_t weakest(const struct changepoints *c)
{
	size_t worst = 0, beside = 0;

	for (size_t k = 1; k < c->n_levels; k++) {
		if (c->fails[k] && (!worst || c->weakness[k] > c->weakness[worst]))
			worst = k;
		if ((is_disturbance(c, k) || is_disturbance(c, k - 1)) &&
		    (!beside || c->weakness[k] > c->weakness[beside]))
			beside = k;
	}
	return worst ? worst : beside;
}

static int remove_cut(struct changepoints *c, size_t k)
{
	int r = 0;

	c->n_levels--;
	memmove(c->start + k, c->start + k + 1, (c->n_levels - k) * sizeof *c->start);
	memmove(c->weakness + k, c->weakness + k + 1, (c->n_levels - k) * sizeof *c->weakness);
	memmove(c->fails + k, c->fails + k + 1, (c->n_levels - k) * sizeof *c->fails);
	if (k > 1)
		r = test_cut(c, k - 1);
	if (!r && k < c->n_levels)
		r = test_cut(c, k);
	return r;
}

static double rest_of_cut(const struct changepoints *c, size_t begin, size_t at, size_t end)
{
	return partition_rest(&c->partition, begin, at) + partition_rest(&c->partition, at, end);
}

/* After other cuts were removed, this one may fit better at another build. */
static bool move_cut(struct changepoints *c, size_t k)
{
	size_t begin = c->start[k - 1], end = end_of(c, k), best = c->start[k];
	double least = rest_of_cut(c, begin, best, end);

	for (size_t at = begin + CHANGEPOINTS_SHORTEST; at + CHANGEPOINTS_SHORTEST <= end; at++) {
		double rest = rest_of_cut(c, begin, at, end);

		if (rest < least - 1e-9 * (1 + least)) {
			least = rest;
			best = at;
		}
	}
	if (best == c->start[k])
		return false;
	c->start[k] = best;
	return true;
}

static int remove_weak(struct changepoints *c)
{
	bool again = true;
	int r = 0;

	while (again && !r) {
		size_t k;

		for (k = 1; !r && k < c->n_levels; k++)
			r = test_cut(c, k);
		while (!r && (k = weakest(c)))
			r = remove_cut(c, k);
		again = false;
		for (k = 1; k < c->n_levels; k++)
			again |= move_cut(c, k);
	}
	return r;
}

/*
 * Where noise has wide tails, the sum of squares misplaces a cut beside outliers, even clipped
 * ones. The likelihood of such noise places it better, once both levels are known.
 */
static void place_cut(struct changepoints *c, size_t k)
{
	size_t begin = c->start[k - 1], end = end_of(c, k), best = c->start[k];
	double before = calm_level(c, k - 1), after = calm_level(c, k), sum = 0, least = INFINITY;

	for (size_t i = begin; i + CHANGEPOINTS_SHORTEST <= end; i++) {
		double x = unclipped(c, i), a = x - before, b = x - after;

		if (i >= begin + CHANGEPOINTS_SHORTEST && sum < least - 1e-9) {
			least = sum;
			best = i;
		}
		sum += log((WIDE_TAILS + a * a) / (WIDE_TAILS + b * b));
	}
	c->start[k] = best;
}

/* 2 ln(20) times the variance of the noise: a position whose residuals exceed those of the
 * best one by this is outside the 95 % interval. */
#define CERTAINTY 5.991464547107982

/* inflation: of the residuals around the levels that remain, which are fewer */
static void set_change(struct changepoints *c, size_t k, double inflation)
{
	size_t begin = c->start[k - 1], at = c->start[k], end = end_of(c, k);
	double most = rest_of_cut(c, begin, at, end) + CERTAINTY * inflation;
	size_t first = at, last = at;

	for (size_t i = begin + 1; i < end; i++) {
		if (rest_of_cut(c, begin, i, end) > most)
			continue;
		first = MIN(i, first);
		last = MAX(i, last);
	}
	c->change[k - 1] = (struct change){
		.at = c->build[at], .first = c->build[first], .last = c->build[last],
		.before = level(c, k - 1), .after = level(c, k), .effect = effect(c, k),
		.p = fmin(1, student_p(c, k)),
	};
}

int changepoints_find_amount(struct changepoints *c, const struct change **list, size_t *n_list,
			     const double *values, size_t n, double least_effect,
			     double least_amount)
{
	double inflation;
	int r;

	*list = NULL;
	*n_list = 0;
	if (n > CHANGEPOINTS_MAX)
		return -EFBIG;
	r = n ? make_room(c, n) : 0;
	if (r)
		return r;
	c->least_effect = least_effect;
	c->least_amount = least_amount;
	take_values(c, values, n);
	if (c->n < FEWEST)
		return 0;
	measure_noise(c);
	for (size_t i = 0; i < c->n; i++)
		c->calm[i] = (clipped(c, i) - c->middle) / c->noise;
	r = partition_load(&c->partition, c->calm, c->n);
	if (r)
		return r;
	c->inflation = 1;
	cut(c);
	if (c->n_levels > 1) {
		c->inflation = inflation_of(c);
		cut(c);
		r = remove_weak(c);
		if (r)
			return r;
	}
	for (size_t k = 1; k < c->n_levels; k++)
		place_cut(c, k);
	inflation = c->n_levels > 1 ? fmax(c->inflation, inflation_of(c)) : 1;
	for (size_t k = 1; k < c->n_levels; k++)
		set_change(c, k, inflation);
	*list = c->change;
	*n_list = c->n_levels - 1;
	return 0;
}

int changepoints_find(struct changepoints *c, const struct change **list, size_t *n_list,
		      const double *values, size_t n, double least_effect)
{
	return changepoints_find_amount(c, list, n_list, values, n, least_effect, 0);
}

void changepoints_view(struct changepoints_view *v, const struct changepoints *c)
{
	*v = (struct changepoints_view){
		.n = c->n, .build = c->build, .calm = c->calm, .n_levels = c->n_levels,
		.start = c->start, .partition = &c->partition, .inflation = c->inflation,
	};
}

double changepoints_amount(const struct changepoints *c, double calm)
{
	double x = calm * c->noise + c->middle;

	return c->ratios ? exp(x) : x * c->scale;
}

double changepoints_effect(const struct changepoints *c, double before, double after)
{
	before = changepoints_amount(c, before);
	after = changepoints_amount(c, after);
	return c->ratios ? after / before - 1 : (after - before) / c->scale;
}
