/* SPDX-License-Identifier: MIT */
#include "stats/changepoints.h"
#include "stats/changepoints_view.h"
#include "stats/distribution.h"
#include "stats/partition.h"
#include "stats/stats.h"
#include "stats/utest.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Fewer values than these have no change point. */
#define FEWEST (CHANGEPOINTS_HELD + CHANGEPOINTS_SHORTEST)

#define LEAST_NOISE 1e-3	/* nothing is measured better */
#define CUT_OFF 3		/* times the noise, from the builds around */
#define PENALTY 3		/* times ln(n) */
#define PRIOR_DF 4		/* what the noise of the series counts for in a test */
#define LEAST_SHARE 0.25	/* of the noise's variance that a test may find */
#define MOST_ALIKE 0.7		/* correlation with the build before */
#define STUDENT_P 3e-4
#define RANK_P 1e-2
#define FARTHEST 1e6		/* in units of the usual size */

struct changepoints {
	size_t cap;
	uint32_t *build;	/* index of each value that is there */
	double *value;		/* them, by logarithm or in units of scale */
	double *calm;		/* the same, what sticks out cut off, around 0, by noise */
	double *left, *right;	/* work */
	uint32_t *start;	/* of the levels */
	double *weakness;	/* of the cut before each, by Student's test: above 1 it fails */
	bool *fails;		/* that, or the ranks */
	struct change *change;
	struct partition partition;
	size_t n;
	bool ratios;		/* value is a logarithm */
	double scale;
	double noise;		/* standard deviation */
	double middle;		/* the median */
	double inflation;	/* how much more than noise the variance counts for */
	size_t n_levels;
	double least_effect, least_amount;
};

struct changepoints *changepoints_new(void)
{
	return calloc(1, sizeof(struct changepoints));
}

static void give_back(struct changepoints *c)
{
	free(c->build);
	free(c->value);
	free(c->calm);
	free(c->left);
	free(c->right);
	free(c->start);
	free(c->weakness);
	free(c->fails);
	free(c->change);
	partition_release(&c->partition);
}

void changepoints_free(struct changepoints *c)
{
	if (c)
		give_back(c);
	free(c);
}

static int make_room(struct changepoints *c, size_t n)
{
	if (n <= c->cap)
		return 0;
	give_back(c);
	*c = (struct changepoints){
		.build = malloc(n * sizeof *c->build),
		.value = malloc(n * sizeof *c->value),
		.calm = malloc(n * sizeof *c->calm),
		.left = malloc(n * sizeof *c->left),
		.right = malloc(n * sizeof *c->right),
		.start = malloc((n + 1) * sizeof *c->start),
		.weakness = malloc((n + 1) * sizeof *c->weakness),
		.fails = malloc((n + 1) * sizeof *c->fails),
		.change = malloc(n * sizeof *c->change),
	};
	if (!c->build || !c->value || !c->calm || !c->left || !c->right || !c->start ||
	    !c->weakness || !c->fails || !c->change) {
		give_back(c);
		*c = (struct changepoints){ 0 };
		return -ENOMEM;
	}
	c->cap = n;
	return 0;
}

/* The usual size of values that are not all above 0; 0 if all are 0. */
static double usual_size(struct changepoints *c)
{
	double size, largest = 0;

	for (size_t i = 0; i < c->n; i++) {
		c->left[i] = fabs(c->value[i]);
		largest = c->left[i] > largest ? c->left[i] : largest;
	}
	size = stats_median(c->left, c->n);
	return size > 0 ? size : largest;
}

static double within(double x, double low, double high)
{
	return x < low ? low : x > high ? high : x;
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

/* Where most builds are as the build before, the values are steps of a coarse unit:
 * then a third of that is the noise. */
static double coarse_noise(const struct changepoints *c)
{
	double unit = INFINITY;

	for (size_t i = 1; i < c->n; i++) {
		double d = fabs(c->value[i] - c->value[i - 1]);

		unit = d > 0 && d < unit ? d : unit;
	}
	return isinf(unit) ? 0 : unit / 3;
}

static void measure_noise(struct changepoints *c)
{
	for (size_t i = 1; i < c->n; i++)
		c->left[i - 1] = c->value[i] - c->value[i - 1];
	c->noise = stats_spread(c->left, c->n - 1, 0) * M_SQRT1_2;
	if (!(c->noise > 0))
		c->noise = coarse_noise(c);
	if (c->noise < LEAST_NOISE)
		c->noise = LEAST_NOISE;
	memcpy(c->left, c->value, c->n * sizeof *c->left);
	c->middle = stats_median(c->left, c->n);
}

static void order(double *a, double *b)
{
	double low = *a < *b ? *a : *b, high = *a < *b ? *b : *a;

	*a = low;
	*b = high;
}

static double median_of_5(const double *v)
{
	double a = v[0], b = v[1], c = v[2], d = v[3], e = v[4];

	order(&a, &b);
	order(&c, &d);
	order(&a, &c);		/* a is not above two others */
	order(&b, &d);		/* d is not below two others */
	order(&b, &c);
	order(&b, &e);		/* the middle one of b, c and e */
	return b > c ? b : e < c ? e : c;
}

/* The builds at either end have the first or last five around them. */
static void calm_down(struct changepoints *c)
{
	for (size_t i = 0; i < c->n; i++) {
		size_t first = i < 2 ? 0 : i + 2 < c->n ? i - 2 : c->n - 5;
		double around = median_of_5(c->value + first);
		double most = CUT_OFF * c->noise;

		c->calm[i] = (within(c->value[i], around - most, around + most) - c->middle) / c->noise;
	}
}

static size_t begin_of(const struct changepoints *c, size_t level)
{
	return c->start[level];
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

/*
 * Builds that resemble the build before, or vary more than from build to build, look
 * like levels: how many times the noise's variance is theirs.
 */
static double inflation_of(const struct changepoints *c)
{
	double squares = 0, products = 0, before = 0, alike;

	for (size_t k = 0; k < c->n_levels; k++) {
		double mean = partition_mean(&c->partition, begin_of(c, k), end_of(c, k));

		for (size_t i = begin_of(c, k); i < end_of(c, k); i++) {
			double rest = c->calm[i] - mean;

			squares += rest * rest;
			products += rest * before;
			before = rest;
		}
	}
	alike = squares > 0 ? products / squares : 0;
	alike = within(alike, 0, MOST_ALIKE);
	return (1 + alike) / (1 - alike) * fmax(1, squares / c->n);
}

/*
 * The places at which noise alone had a chance to look like the cut before level k: any build
 * of both levels; if the shorter one has another cut at its other end, any run of builds
 * that is no longer.
 */
static double places(const struct changepoints *c, size_t k)
{
	size_t before = begin_of(c, k) - begin_of(c, k - 1), after = end_of(c, k) - begin_of(c, k);
	double builds = before + after;

	if (before < after)
		return k > 1 ? builds * before : builds;
	return k + 1 < c->n_levels ? builds * after : builds;
}

/* Student's test of level k against the one before, times the places. */
static double student_p(const struct changepoints *c, size_t k)
{
	const struct partition *p = &c->partition;
	size_t begin = begin_of(c, k - 1), at = begin_of(c, k), end = end_of(c, k);
	double n_1 = at - begin, n_2 = end - at, df = PRIOR_DF + n_1 + n_2 - 2;
	double variance = (PRIOR_DF + partition_rest(p, begin, at) + partition_rest(p, at, end)) / df;
	double step = partition_mean(p, at, end) - partition_mean(p, begin, at);

	variance = fmax(variance, LEAST_SHARE) * c->inflation;
	return stats_t_both(step / sqrt(variance * (1 / n_1 + 1 / n_2)), df) * places(c, k);
}

/*
 * Mann and Whitney's, of the values as they are; against the last few builds, though, of
 * what stuck out before only so much is left: a spike or two of long ago would outvote them.
 * Of those builds themselves nothing is cut off, or two spikes of them would lift a third
 * build between them.
 */
static int rank_p(struct changepoints *c, double *p, size_t k)
{
	size_t begin = begin_of(c, k - 1), at = begin_of(c, k), end = end_of(c, k);
	bool calm = end - at < CHANGEPOINTS_HELD;
	int r;

	memcpy(c->left, (calm ? c->calm : c->value) + begin, (at - begin) * sizeof *c->left);
	memcpy(c->right, c->value + at, (end - at) * sizeof *c->right);
	for (size_t i = 0; calm && i < end - at; i++)
		c->right[i] = (c->right[i] - c->middle) / c->noise;
	stats_sort(c->left, at - begin);
	stats_sort(c->right, end - at);
	r = utest_p(p, c->left, at - begin, c->right, end - at);
	*p *= places(c, k);
	return r;
}

static double calm_level(const struct changepoints *c, size_t k)
{
	return partition_mean(&c->partition, begin_of(c, k), end_of(c, k));
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
 * The cut before level k. However clear it is, the ranks of a few builds tell little: so
 * they let it fail, but do not make it weaker than another.
 */
static int judge(struct changepoints *c, size_t k)
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

static int judge_all(struct changepoints *c)
{
	int r = 0;

	for (size_t k = 1; !r && k < c->n_levels; k++)
		r = judge(c, k);
	return r;
}

static bool is_passing(const struct changepoints *c, size_t k)
{
	return k + 1 < c->n_levels && end_of(c, k) - begin_of(c, k) < CHANGEPOINTS_HELD;
}

/* The cut to be taken back, 0 if none is: the weakest that fails, else the weakest at
 * a level that passed by. */
static size_t weakest(const struct changepoints *c)
{
	size_t worst = 0, passing = 0;

	for (size_t k = 1; k < c->n_levels; k++) {
		if (c->fails[k] && (!worst || c->weakness[k] > c->weakness[worst]))
			worst = k;
		if ((is_passing(c, k) || is_passing(c, k - 1)) &&
		    (!passing || c->weakness[k] > c->weakness[passing]))
			passing = k;
	}
	return worst ? worst : passing;
}

static int take_back(struct changepoints *c, size_t k)
{
	int r = 0;

	c->n_levels--;
	memmove(c->start + k, c->start + k + 1, (c->n_levels - k) * sizeof *c->start);
	memmove(c->weakness + k, c->weakness + k + 1, (c->n_levels - k) * sizeof *c->weakness);
	memmove(c->fails + k, c->fails + k + 1, (c->n_levels - k) * sizeof *c->fails);
	if (k > 1)
		r = judge(c, k - 1);
	if (!r && k < c->n_levels)
		r = judge(c, k);
	return r;
}

/* What is left over by the levels on both sides of a cut. */
static double rest_with(const struct changepoints *c, size_t begin, size_t at, size_t end)
{
	return partition_rest(&c->partition, begin, at) + partition_rest(&c->partition, at, end);
}

/* Once others were taken back, a cut may be better elsewhere. */
static bool moved(struct changepoints *c, size_t k)
{
	size_t begin = begin_of(c, k - 1), end = end_of(c, k), best = begin_of(c, k);
	double least = rest_with(c, begin, best, end);

	for (size_t at = begin + CHANGEPOINTS_SHORTEST; at + CHANGEPOINTS_SHORTEST <= end; at++) {
		double rest = rest_with(c, begin, at, end);

		if (rest < least - 1e-9 * (1 + least)) {
			least = rest;
			best = at;
		}
	}
	if (best == begin_of(c, k))
		return false;
	c->start[k] = best;
	return true;
}

static int settle(struct changepoints *c)
{
	bool again = true;
	int r = 0;

	while (again && !r) {
		size_t k;

		r = judge_all(c);
		while (!r && (k = weakest(c)))
			r = take_back(c, k);
		again = false;
		for (k = 1; k < c->n_levels; k++)
			again |= moved(c, k);
	}
	return r;
}

/* 2 ln(20) times the noise's variance: what one place is better by than another, if
 * the other is to be left out with a confidence of 95 %. */
#define CERTAINTY 5.991464547107982

static void tell(struct changepoints *c, size_t k)
{
	size_t begin = begin_of(c, k - 1), at = begin_of(c, k), end = end_of(c, k);
	double most = rest_with(c, begin, at, end) + CERTAINTY * c->inflation;
	size_t first = at, last = at;

	for (size_t i = begin + 1; i < end; i++) {
		if (rest_with(c, begin, i, end) > most)
			continue;
		first = i < first ? i : first;
		last = i > last ? i : last;
	}
	c->change[k - 1] = (struct change){
		.at = c->build[at], .first = c->build[first], .last = c->build[last],
		.before = level(c, k - 1), .after = level(c, k), .effect = effect(c, k),
		.p = fmin(1, student_p(c, k)),
	};
}

static int find(struct changepoints *c)
{
	int r;

	measure_noise(c);
	calm_down(c);
	r = partition_load(&c->partition, c->calm, c->n);
	if (r)
		return r;
	c->inflation = 1;
	cut(c);
	if (c->n_levels < 2)
		return 0;
	c->inflation = inflation_of(c);
	cut(c);
	return settle(c);
}

int changepoints_find_amount(struct changepoints *c, const struct change **list, size_t *n_list,
			     const double *values, size_t n, double least_effect,
			     double least_amount)
{
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
	r = find(c);
	if (r)
		return r;
	for (size_t k = 1; k < c->n_levels; k++)
		tell(c, k);
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
