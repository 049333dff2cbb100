/* SPDX-License-Identifier: MIT */
#include "stats/tails.h"
#include "tests/noise.h"
#include "tests/support.h"

#include <math.h>
#include <stdlib.h>

#define SERIES 2000
#define BUILDS 50

static struct tails *tails;

static void setup(void)
{
	tails = calloc(1, sizeof *tails);
	ck_assert_ptr_nonnull(tails);
}

static void teardown(void)
{
	free(tails);
}

/* Every series: normal noise, and outliers. */
static void add(double uneven, double spikes, size_t spiky, double alike)
{
	struct noise noise = { 12 };

	for (size_t k = 0; k < SERIES; k++) {
		double off[BUILDS], before = noise_normal(&noise);
		double spread = exp(uneven * noise_normal(&noise));

		for (size_t i = 0; i < BUILDS; i++) {
			before = alike * before + sqrt(1 - alike * alike) * noise_normal(&noise);
			off[i] = spread * before;
			if (k % spiky == 0 && noise_uniform(&noise) < spikes)
				off[i] = 8;
		}
		tails_add(tails, off, BUILDS);
	}
	tails_finish(tails);
}

START_TEST(shares)
{
	add(0, 0.02, 1, 0);
	ck_assert_double_eq_tol(tails_share(tails, 0, NULL, 0), 0.51, 0.01);
	ck_assert_double_eq_tol(tails_share(tails, 2, NULL, 0), 0.0223 + 0.02, 0.003);
	ck_assert_double_eq_tol(tails_share(tails, 6, NULL, 0), 0.02, 0.002);
	ck_assert_double_lt(tails_share(tails, 9, NULL, 0), 0.02);
	ck_assert_double_lt(tails_share(tails, 1e9, NULL, 0), 1e-12);
}
END_TEST

/* Beyond the observed values the tail falls as fast as before. */
static double normal_share(double off)
{
	return 0.5 * erfc(off * M_SQRT1_2);
}

START_TEST(beyond)
{
	add(0, 0, 1, 0);
	for (double off = 0.5; off < 3.2; off += 0.25)
		ck_assert_double_eq_tol(tails_share(tails, off, NULL, 0) / normal_share(off), 1, 0.4);
	ck_assert_double_lt(tails_share(tails, 6, NULL, 0), 2e-5);
	ck_assert_double_gt(tails_share(tails, 6, NULL, 0), normal_share(6));
	ck_assert_double_lt(tails_share(tails, 12, NULL, 0), 2e-8);
}
END_TEST

/* Equal values: one of them adds no information. */
START_TEST(own_builds)
{
	double mine[10] = { 8, 8, 8 }, calm[10] = { 0 };

	add(0, 0.02, 1, 0);
	ck_assert(tails->strength > 300);
	teardown();
	setup();
	add(0, 0.3, 20, 0);
	ck_assert(tails->strength < 30);
	ck_assert_double_gt(tails_share(tails, 6, mine, 10), 0.15);
	ck_assert_double_lt(tails_share(tails, 6, calm, 10), 0.015);
}
END_TEST

/* Independent builds, dependent ones, and series rougher than assumed. */
START_TEST(builds_running)
{
	add(0, 0.01, 1, 0);
	ck_assert_double_eq_tol(tails->another, 1, 0.05);
	ck_assert_double_eq_tol(tails_running(tails, 0.01, 2), 1e-4, 3e-5);
	ck_assert_double_eq(tails_running(tails, 0.01, 1), 0.01);
	teardown();
	setup();
	add(0, 0, 1, 0.5);
	ck_assert_double_lt(tails->another, 0.65);
	teardown();
	setup();
	add(0.5, 0, 1, 0);
	ck_assert_double_lt(tails->another, 0.8);
}
END_TEST

START_TEST(nothing_known)
{
	tails_finish(tails);
	ck_assert_double_eq(tails_share(tails, 3, NULL, 0), 0);
	ck_assert_double_eq(tails_running(tails, 1e-9, 1), 1e-9);
	ck_assert_double_eq(tails_running(tails, 0.1, 2), 0.1 * 0.1);
	ck_assert_double_eq_tol(tails_running(tails, 1e-9, 2), 1e-4, 1e-12);
}
END_TEST

START_TEST(merged)
{
	struct tails *other = calloc(1, sizeof *other);
	const double off[] = { 1, 5, 5, -2 };

	tails_add(tails, off, 4);
	tails_add(other, off, 4);
	tails_merge(tails, other);
	tails_finish(tails);
	ck_assert_uint_eq(tails->builds, 8);
	ck_assert_uint_eq(tails->bin[0], 6);
	ck_assert_uint_eq(tails->doubled, 2);
	ck_assert_uint_eq(tails->bin[4 * 16], 4);
	free(other);
}
END_TEST

int main(void)
{
	return support_main("tails",
			    TEST_GROUP_WITH("tails", setup, teardown), TEST(shares), TEST(beyond),
			    TEST(own_builds), TEST(builds_running), TEST(nothing_known),
			    TEST(merged));
}
