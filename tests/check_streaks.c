/* SPDX-License-Identifier: MIT */
#include "base/minmax.h"
#include "stats/streaks.h"
#include "stats/distribution.h"
#include "tests/noise.h"
#include "tests/support.h"

/* Runs of normal values, of which consecutive ones are alike. */
static void count(struct streaks *c, struct noise *noise, size_t n, double alike)
{
	float last[STREAKS_MOST] = { 0 };
	double x = noise_normal(noise);

	for (size_t i = 0; i < n + STREAKS_MOST; i++) {
		float least[STREAKS_MOST];

		x = alike * x + sqrt(1 - alike * alike) * noise_normal(noise);
		memmove(last + 1, last, sizeof last - sizeof *last);
		last[0] = (float)x;
		for (size_t k = 0; k < STREAKS_MOST; k++)
			least[k] = k ? MIN(least[k - 1], last[k]) : last[0];
		if (i >= STREAKS_MOST)
			streaks_add(c, least, STREAKS_MOST);
	}
	streaks_finish(c, 1);
}

TEST_GROUP("streaks");

/* Of many independent values the probability is the product; of few it is not smaller than a part of
 * it. */
TEST_RANGE(independent, 1, STREAKS_MOST + 1)
{
	struct noise noise = { 1 };
	struct streaks many = { 0 }, few = { 0 };

	count(&many, &noise, 1000000, 0);
	count(&few, &noise, 600, 0);
	for (double off = 0.5; off < 3; off += 0.25) {
		double p = pow(stats_normal_tail(off), (double)_i);

		/* A bin is as likely as its lower edge. */
		ck_assert_double_le(streaks_p(&many, off, (size_t)_i, 1), 1.2 * p + 1e-9 + 0.5 * pow(p, .9));
		ck_assert_double_ge(streaks_p(&many, off, (size_t)_i, 1), 0.9 * p);
		ck_assert_double_ge(streaks_p(&few, off, (size_t)_i, 1), 0.9 * p);
	}
}

/* If values are alike, long runs are as likely as they were seen. */
TEST_RANGE(alike, 2, STREAKS_MOST + 1)
{
	struct noise noise = { 2 };
	struct streaks c = { 0 };
	size_t k = (size_t)_i;

	count(&c, &noise, 1000000, 0.8);
	for (double off = 0.5; off < 2; off += 0.25) {
		double seen = c.above[k - 1][(size_t)(off / STREAKS_STEP)] / c.n[k - 1];

		ck_assert_double_eq_tol(streaks_p(&c, off, k, 1), seen, 0.1 * seen);
	}
	ck_assert_double_lt(c.alike, 0.7);
}

/* It falls with the number of values and with how far off they are, whatever was counted, and is a
 * probability. */
TEST_LOOP(falls, 20)
{
	struct noise noise = { 100 + (uint64_t)_i };
	struct streaks c = { 0 };

	count(&c, &noise, (size_t)_i * _i * _i, _i % 3 * 0.4);
	for (size_t k = 1; k <= STREAKS_MOST; k++) {
		double before = 1;

		for (double off = 0; off < 8; off += STREAKS_STEP) {
			double p = streaks_p(&c, off, k, 1 + _i % 2);

			ck_assert(p > 0 && p <= 1);
			ck_assert_double_le(p, streaks_p(&c, off, k - (k > 1), 1 + _i % 2));
			if (k == 1)
				ck_assert_double_le(p, before);
			before = p;
		}
	}
}

/* Without any run nothing is improbable, but far beyond what normal values do. */
TEST(nothing_counted)
{
	struct streaks c = { 0 };

	streaks_finish(&c, 1);
	ck_assert_double_eq(streaks_p(&c, 1, 1, 1), 1);
	ck_assert_double_eq(streaks_p(&c, 5, 3, 1), 1);
}

/* What is halved says the same, and less surely. */
TEST(fade)
{
	struct noise noise = { 5 };
	struct streaks c = { 0 };
	double before;

	count(&c, &noise, 100000, 0.5);
	before = streaks_p(&c, 1.5, 2, 1);
	streaks_fade(&c);
	streaks_finish(&c, 1);
	ck_assert_double_eq_tol(streaks_p(&c, 1.5, 2, 1), before, 0.02 * before);
	ck_assert_double_eq_tol(c.n[0], 50000, 3);
}

TEST_MAIN(streaks);
