/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "stats/deviations.h"
#include "stats/level.h"
#include "stats/nulls.h"
#include "stats/stats.h"
#include "tests/noise.h"
#include "tests/support.h"

static struct deviations *d;
static struct nulls *nulls;

static void setup(void)
{
	d = calloc(1, sizeof *d);
	nulls = calloc(1, sizeof *nulls);
	ck_assert(d && nulls);
}

static void teardown(void)
{
	free(d);
	free(nulls);
}

TEST_GROUP_WITH("deviations", setup, teardown);

/* Bins ascend with the deviation, and both signs have the same. */
TEST(bins)
{
	unsigned last = 0;

	for (float z = -70; z <= 70; z += 0.01f) {
		unsigned bin = deviations_bin(z);

		ck_assert_uint_ge(bin, last);
		ck_assert_uint_lt(bin, DEVIATIONS_BINS);
		if (fabsf(z) > 0.005f)
			ck_assert_uint_eq(bin, DEVIATIONS_BINS - 1 - deviations_bin(-z));
		last = bin;
	}
}

static double area(void)
{
	double sum = 0;

	for (double z = -60; z < 60; z += 0.01)
		sum += 0.01 * exp(deviations_ln(d, z + 0.005));
	return sum;
}

/* The density is one, whatever was counted, and that of normal values is normal. */
static const size_t counted[] = { 0, 1, 100, 100000 };

TEST_EACH(density, counted)
{
	struct noise random = { 3 };

	for (size_t i = 0; i < counted[_i]; i++)
		deviations_add(d, (float)noise_normal(&random));
	deviations_finish(d);
	ck_assert_double_eq_tol(area(), 1, 0.03);
	if (counted[_i] > 1000) {
		for (double z = -2; z <= 2; z += 0.25)
			ck_assert_double_eq_tol(deviations_ln(d, z), -0.919 - 0.5 * z * z, 0.2);
		ck_assert_double_eq_tol(deviations_quantile(d, 0.025), -1.96, 0.05);
		ck_assert_double_eq_tol(deviations_quantile(d, 0.975), 1.96, 0.05);
		ck_assert_double_eq_tol(deviations_share(d, 2, 0), 0.023, 0.003);
		ck_assert_double_eq_tol(deviations_share(d, 2, 1), 0.023, 0.003);
	}
	deviations_fade(d);
	ck_assert_double_eq(d->n, 0.5 * (double)counted[_i]);
}

/* The gain of a shift is positive where the shift is, and mirrored downwards. */
TEST(gains)
{
	deviations_finish(d);
	for (float z = 2.5f; z < 55; z *= 1.3f) {
		unsigned bin = deviations_bin(z), mirror = deviations_bin(-z);
		float most = -INFINITY;

		for (int s = 0; s < DEVIATIONS_SHIFTS; s++) {
			most = fmaxf(most, d->gain[0][bin][s]);
			ck_assert_float_eq_tol(d->gain[0][bin][s], d->gain[1][mirror][s], 1e-3f);
		}
		ck_assert_float_gt(most, 1);
		for (int s = 0; s < DEVIATIONS_SHIFTS; s++)
			ck_assert_float_lt(d->gain[1][bin][s], 0);
	}
}

/* Of exponential values the probability is exact inside and conservative outside. */
TEST(probabilities)
{
	struct noise random = { 5 };
	double last = 1;

	for (int i = 0; i < 20000; i++)
		nulls_add(nulls, (float)(-log(noise_uniform(&random))));
	nulls_finish(nulls);
	for (double v = 0.5; v < 5; v += 0.5)
		ck_assert_double_eq_tol(log(nulls_p(nulls, v)), -v, 0.4);
	for (double v = 5; v < 40; v++) {
		double p = nulls_p(nulls, v);

		ck_assert(p >= exp(-v) && p <= last && p > 0);
		ck_assert_double_le(p, 10 * exp(-0.7 * v));
		last = p;
	}
	ck_assert_double_eq(nulls_p(nulls, -1), 1);
	ck_assert_double_eq(nulls_p(nulls, -INFINITY), 1);
}

/* A value that has been seen is as frequent as seen, however steep the rest is. */
TEST(rare)
{
	struct noise random = { 6 };

	for (int i = 0; i < 20000; i++)
		nulls_add(nulls, i % 1000 ? (float)(-0.2 * log(noise_uniform(&random))) : 20);
	nulls_finish(nulls);
	ck_assert_double_ge(nulls_p(nulls, 20), 0.001);
	ck_assert_double_ge(nulls_p(nulls, 21), 1e-5);
}

/* With few values the bound counts. */
TEST(few)
{
	for (int i = 0; i < 50; i++)
		nulls_add(nulls, 0);
	nulls_finish(nulls);
	for (double v = 1; v < 30; v++)
		ck_assert_double_ge(nulls_p(nulls, v), exp(-v));
	nulls_fade(nulls);
	ck_assert_double_eq(nulls->n, 25);
}

/* A sorted array that changes has the median and spread of its values. */
TEST(levels)
{
	struct noise random = { 7 };
	float sorted[40], kept[40];
	double v[40];
	size_t n = 0;

	for (int i = 0; i < 3000; i++) {
		if (n == ARRAY_SIZE(sorted) || (n && noise_uniform(&random) < 0.45)) {
			size_t at = (size_t)(noise_uniform(&random) * (double)n);

			level_remove(sorted, n, kept[at]);
			kept[at] = kept[--n];
		} else {
			kept[n] = (float)(int)(20 * noise_normal(&random));
			level_insert(sorted, n, kept[n]);
			n++;
		}
		if (!n)
			continue;
		for (size_t k = 0; k < n; k++)
			v[k] = (double)kept[k];
		ck_assert_double_eq_tol((double)level_middle(sorted, n), stats_median(v, n), 1e-4);
		ck_assert_double_eq_tol(1.4826 * (double)level_distance(sorted, n,
					level_middle(sorted, n)),
					stats_spread(v, n, (double)level_middle(sorted, n)), 2e-3);
	}
}

TEST_MAIN(deviations);
