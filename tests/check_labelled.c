/* SPDX-License-Identifier: MIT */
#include "tests/labelled.h"
#include "tests/support.h"

/* Change points of labelled series of a real benchmark, and of series drawn from their noise. */

#define DRAWN 1000
#define SEED 20261122

static struct labelled_set shared;

static void check(const struct labelled_set *set, double least, size_t most_in_quiet)
{
	struct labelled_score s;

	ck_assert_int_eq(labelled_score(&s, set), 0);
	ck_assert_msg(labelled_f1(&s) >= least, "F1 %.3f: %zu right, %zu wrong, %zu missed",
		      labelled_f1(&s), s.right, s.wrong, s.missed);
	ck_assert_msg(s.wrong_in_quiet <= most_in_quiet, "%zu in %zu series without a step",
		      s.wrong_in_quiet, s.quiet);
	ck_assert_msg(s.covered >= 0.95 * s.right, "intervals: %zu of %zu", s.covered, s.right);
}

TEST(known_series)
{
	check(&shared, 0.965, 0);
}

TEST(drawn_series)
{
	struct labelled_set set;

	labelled_draw(&set, &shared, DRAWN, SEED);
	ck_assert_uint_eq(set.n, DRAWN);
	check(&set, 0.96, 2);
	labelled_release(&set);
}

TEST_PROGRAM(labelled)
{
	int failed;

	if (!labelled_read(&shared)) {
		labelled_release(&shared);
		return support_skips_all("the series of tests/data/labelled cannot be read");
	}
	failed = support_main();
	labelled_release(&shared);
	return failed;
}
