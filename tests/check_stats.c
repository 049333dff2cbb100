/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "stats/distribution.h"
#include "stats/stats.h"
#include "stats/utest.h"
#include "tests/noise.h"
#include "tests/support.h"

static void assert_near(double is, double should, double share)
{
	ck_assert_msg(fabs(is - should) <= share * fabs(should) + 1e-300, "%.17g, not %.17g", is,
		      should);
}

/* Distributions, by their closed forms. */

static double t_tail_1(double t)
{
	return atan2(1, t) / M_PI;
}

static double t_tail_2(double t)
{
	double root = sqrt(2 + t * t);

	return t > 0 ? 1 / (root * (root + t)) : 0.5 - t / (2 * root);
}

static double t_tail_4(double t)
{
	double s = t / sqrt(4 + t * t);

	return 0.5 - 0.75 * (s - s * s * s / 3);
}

TEST_GROUP("distributions");

TEST(student)
{
	static const double t[] = { -3, -0.5, 0, 1e-3, 0.7, 1, 2.5, 8 };

	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		assert_near(stats_t_tail(t[i], 1), t_tail_1(t[i]), 1e-13);
		assert_near(stats_t_tail(t[i], 2), t_tail_2(t[i]), 1e-13);
		assert_near(stats_t_tail(t[i], 4), t_tail_4(t[i]), 1e-12);
		assert_near(stats_t_tail(t[i], INFINITY), stats_normal_tail(t[i]), 1e-14);
		assert_near(stats_t_tail(t[i], 1e9), stats_normal_tail(t[i]), 1e-5);
		assert_near(stats_t_tail(t[i], 1.01e6), stats_t_tail(t[i], 0.99e6), 1e-4);
	}
	assert_near(stats_t_tail(1e8, 1), t_tail_1(1e8), 1e-13);
	assert_near(stats_t_tail(1e8, 2), 0.5e-16, 1e-13);
	ck_assert(stats_t_both(INFINITY, 3) == 0);
	ck_assert(isnan(stats_t_both(NAN, 3)));
	assert_near(stats_t_quantile(0.025, 5), 2.570581835636314, 1e-13);
	assert_near(stats_t_quantile(0.025, 10), 2.2281388519862748, 1e-13);
	assert_near(stats_t_quantile(0.975, 10), -2.2281388519862748, 1e-13);
	assert_near(stats_t_tail(stats_t_quantile(1e-9, 2.5), 2.5), 1e-9, 1e-12);
}

TEST(normal)
{
	static const double p[] = { 1e-300, 1e-20, 1e-5, 0.025, 0.3, 0.5, 0.9, 1 - 1e-9 };

	for (size_t i = 0; i < ARRAY_SIZE(p); i++)
		assert_near(stats_normal_tail(stats_normal_quantile(p[i])), p[i], 1e-12);
	assert_near(stats_normal_quantile(0.025), 1.959963984540054, 1e-14);
	ck_assert(stats_normal_quantile(0) == INFINITY && stats_normal_quantile(1) == -INFINITY);
}

TEST(beta)
{
	for (double x = 0; x <= 1; x += 0.0625) {
		assert_near(stats_beta_share(1, 3.5, x), 1 - pow(1 - x, 3.5), 1e-12);
		assert_near(stats_beta_share(3.5, 1, x), pow(x, 3.5), 1e-12);
		assert_near(stats_beta_share(0.5, 0.5, x), 2 / M_PI * asin(sqrt(x)), 1e-12);
		assert_near(stats_beta_share(2, 2, x), x * x * (3 - 2 * x), 1e-12);
		assert_near(stats_beta_share(300, 200, x) + stats_beta_share(200, 300, 1 - x), 1,
			    1e-12);
	}
}

TEST(gamma_derivatives)
{
	const double euler = 0.57721566490153286;

	assert_near(stats_digamma(1), -euler, 1e-14);
	assert_near(stats_digamma(0.5), -euler - 2 * log(2), 1e-14);
	assert_near(stats_digamma(100.5) - stats_digamma(99.5), 1 / 99.5, 1e-12);
	assert_near(stats_trigamma(1), M_PI * M_PI / 6, 1e-14);
	assert_near(stats_trigamma(0.5), M_PI * M_PI / 2, 1e-14);
	for (double x = 1e-3; x < 1e6; x *= 7)
		assert_near(stats_trigamma_inverse(stats_trigamma(x)), x, 1e-9);
	assert_near(exp(stats_ln_choose(50, 3)), 19600, 1e-12);
}

/* Samples */

TEST_GROUP("samples");

TEST(medians)
{
	struct noise noise = { 1 };
	double v[64], sorted[64];

	ck_assert(isnan(stats_median(v, 0)));
	for (size_t n = 1; n <= 64; n++) {
		for (size_t i = 0; i < n; i++)
			v[i] = floor(noise_uniform(&noise) * (n % 3 ? 1000 : 5));
		memcpy(sorted, v, sizeof sorted);
		stats_sort(sorted, n);
		ck_assert(stats_median(v, n) == stats_median_sorted(sorted, n));
	}
	memcpy(v, (double[]){ 5, 1, 2, 3, 1e9 }, 5 * sizeof *v);
	assert_near(stats_spread(v, 5, 3), 1.4826022185056018 * 2, 1e-15);
	assert_near(stats_variance((double[]){ 1, 2, 4 }, 3), 7.0 / 3, 1e-15);
	ck_assert(isnan(stats_variance(v, 1)));
}

static const struct {
	size_t n;
	double confidence;
	int low;		/* start of the interval, -1: infinite */
} intervals[] = {
	{ 0, 0.95, -1 }, { 1, 0.95, -1 }, { 5, 0.95, -1 }, { 6, 0.95, 0 }, { 8, 0.95, 0 },
	{ 9, 0.95, 1 }, { 10, 0.95, 1 }, { 10, 0.99, 0 }, { 20, 0.95, 5 }, { 100, 0.95, 39 },
};

TEST_EACH(median_interval, intervals)
{
	double v[100];
	struct interval in;
	size_t n = intervals[_i].n;

	for (size_t i = 0; i < n; i++)
		v[i] = i;
	in = stats_median_interval(v, n, intervals[_i].confidence);
	if (intervals[_i].low < 0) {
		ck_assert(in.low == -INFINITY && in.high == INFINITY);
	} else {
		ck_assert_msg(in.low == intervals[_i].low, "%g", in.low);
		ck_assert(in.high == n - 1 - in.low);
	}
}

TEST(adjusted)
{
	double p[] = { 0.01, 0.04, 0.03, 0.2, 0.005, NAN, 0.9 };
	static const double should[] = { 0.03, 0.06, 0.06, 0.24, 0.03, NAN, 0.9 };

	ck_assert(!stats_adjust(p, ARRAY_SIZE(p)));
	for (size_t i = 0; i < ARRAY_SIZE(p); i++) {
		if (isnan(should[i]))
			ck_assert(isnan(p[i]));
		else
			assert_near(p[i], should[i], 1e-12);
	}
	ck_assert(!stats_adjust(NULL, 0));
}

/* Variances drawn from the assumed distribution: df0 is found again; infinite where all are
 * equal. */
TEST(shared_variance)
{
	static const double df_is[] = { 4, 20, INFINITY };
	enum { N = 20000 };
	double *variance = malloc(N * sizeof *variance), *df = malloc(N * sizeof *df);
	struct noise noise = { 5 };

	for (size_t k = 0; k < ARRAY_SIZE(df_is); k++) {
		struct prior prior;

		for (size_t i = 0; i < N; i++) {
			double own = 9, squares = 0;

			if (isfinite(df_is[k])) {
				for (int j = 0; j < df_is[k]; j++)
					squares += pow(noise_normal(&noise), 2);
				own *= df_is[k] / squares;
			}
			squares = 0;
			for (int j = 0; j < 4; j++)
				squares += pow(noise_normal(&noise), 2);
			variance[i] = own * squares / 4;
			df[i] = 4;
		}
		variance[7] = 0;
		variance[8] = NAN;
		df[9] = 0;
		prior = stats_prior(variance, df, N);
		assert_near(prior.variance, 9, 0.03);
		if (isfinite(df_is[k]))
			assert_near(prior.df, df_is[k], 0.2);
		else
			ck_assert(prior.df > 100);
	}
	ck_assert(stats_prior(variance, df, 1).df == 0);
	assert_near(stats_shrink(&(struct prior){ 9, 4 }, 1, 4), 5, 1e-15);
	assert_near(stats_shrink(&(struct prior){ 9, INFINITY }, 1, 4), 9, 1e-15);
	assert_near(stats_shrink(&(struct prior){ 0, 0 }, 1, 4), 1, 1e-15);
	free(variance);
	free(df);
}

/* Mann and Whitney's test, against every way to divide the values. */

static unsigned pairs_above(const double *all, unsigned n, unsigned in_a)
{
	unsigned twice = 0;

	for (unsigned i = 0; i < n; i++) {
		for (unsigned j = 0; j < n; j++) {
			if (in_a >> i & 1 && !(in_a >> j & 1))
				twice += all[i] > all[j] ? 2 : all[i] == all[j];
		}
	}
	return twice;
}

static double dealt_p(const double *all, unsigned n, unsigned n_a)
{
	unsigned is = pairs_above(all, n, (1u << n_a) - 1), low = 0, high = 0, ways = 0;

	for (unsigned in_a = 0; in_a < 1u << n; in_a++) {
		unsigned twice;

		if (__builtin_popcount(in_a) != (int)n_a)
			continue;
		twice = pairs_above(all, n, in_a);
		low += twice <= is;
		high += twice >= is;
		ways++;
	}
	return fmin(1, 2.0 * (is <= n_a * (n - n_a) ? low : high) / ways);
}

TEST_GROUP("ranks");

TEST_LOOP(ranks_dealt, 20)
{
	struct noise noise = { 100 + _i };
	double all[11], a[11], b[11], p;

	for (unsigned n = 2; n <= 11; n++) {
		unsigned n_a = 1 + (unsigned)(noise_uniform(&noise) * (n - 1)), n_b = n - n_a;

		for (unsigned i = 0; i < n; i++) {
			all[i] = noise_uniform(&noise) + (i < n_a ? 0.4 : 0);
			all[i] = _i % 2 ? floor(all[i] * 5) : all[i];
		}
		memcpy(a, all, n_a * sizeof *a);
		memcpy(b, all + n_a, n_b * sizeof *b);
		stats_sort(a, n_a);
		stats_sort(b, n_b);
		ck_assert(!utest_p(&p, a, n_a, b, n_b));
		ck_assert_msg(fabs(p - dealt_p(all, n, n_a)) < 1e-12, "%u of %u: %g, not %g", n_a,
			      n, p, dealt_p(all, n, n_a));
	}
}

TEST(ranks)
{
	double a[2000], b[2000], p, exact;

	for (size_t i = 0; i < 2000; i++) {
		a[i] = i;
		b[i] = i + 0.5;
	}
	/* 3 of 123, all above: 2 of 302,621 ways. */
	ck_assert(!utest_p(&p, a, 120, b + 120, 3));
	assert_near(p, 2.0 / 302621, 1e-10);
	/* All but one pair. */
	ck_assert(!utest_p(&p, a, 120, b + 118, 3));
	assert_near(p, 2 * 2.0 / 302621, 1e-10);
	/* The exact and the normal result are close: with one value more the exact one would
	 * take too long. */
	for (size_t n = 140; n < 200; n += 59) {
		double z = (0.5 * n * n - 0.5 * (n - 20) * (n - 19) - 0.5) / sqrt(n * n / 12.0 *
										  (2 * n + 1));

		ck_assert(!utest_p(&exact, a, n, b + 19, n));
		assert_near(exact, 2 * stats_normal_tail(z), n < 150 ? 0.1 : 1e-10);
	}
	ck_assert(!utest_p(&p, a, 0, b, 5));
	ck_assert(p == 1);
	ck_assert(!utest_p(&p, (double[]){ 7, 7, 7 }, 3, (double[]){ 7, 7 }, 2));
	ck_assert(p == 1);
	ck_assert(!utest_p(&p, a, 2000, a, 2000));
	ck_assert(p == 1);
}

#define LARGE 50000

TEST(shift)
{
	static const double a[] = { 1, 2, 4, 8 }, b[] = { 11, 12, 14, 18 };
	struct interval in;
	double v[40], w[40], step, *large = malloc(LARGE * sizeof *large);
	int r, covered = 0, rounds = 400;
	struct noise noise = { 9 };

	r = utest_shift(&step, &in, a, 4, b, 4, 0.95);
	ck_assert(!r && step == 10 && in.low == 3 && in.high == 17);
	r = utest_shift(&step, &in, a, 3, b, 3, 0.95);
	ck_assert(!r && step == 10 && in.low == -INFINITY && in.high == INFINITY);
	r = utest_shift(&step, &in, a, 0, b, 3, 0.95);
	ck_assert(!r && isnan(step));
	/* More differences than fit into memory. */
	for (size_t i = 0; i < LARGE; i++)
		large[i] = (double)i;
	ck_assert(!utest_shift(&step, &in, large, LARGE, large, LARGE, 0.95));
	ck_assert(step == 0 && in.low < 0 && in.low > -0.02 * LARGE && in.high == -in.low);
	free(large);
	for (int i = 0; i < rounds; i++) {
		size_t n = i % 2 ? 8 : 40;

		for (size_t j = 0; j < n; j++) {
			v[j] = noise_normal(&noise);
			w[j] = noise_normal(&noise) + 2;
		}
		stats_sort(v, n);
		stats_sort(w, n);
		ck_assert(!utest_shift(&step, &in, v, n, w, n, 0.9));
		covered += in.low <= 2 && 2 <= in.high;
	}
	ck_assert_msg(covered > 0.86 * rounds && covered < 0.97 * rounds, "%d", covered);
}

TEST_MAIN(stats);
