/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "stats/decide.h"
#include "tests/noise.h"
#include "tests/support.h"

/* The error rate of decisions, and the number of runs they need. */

#define MOST 10
#define TRIALS 300
#define ERROR 0.01

static const struct matters matters = { .share = 0.05 };

struct trial {
	double good[MOST], bad[MOST], new[MOST];
	size_t n_refs, n;
};

/* The measurements in their order. */
struct source {
	struct noise noise;
	double v[4 * MOST];
	size_t at;
};

static void begin(struct source *s, enum noise_kind kind)
{
	noise_series(&s->noise, kind, s->v, 4 * MOST);
	s->at = 0;
}

static enum levels find_levels(struct trial *t, struct source *s, double ratio)
{
	struct apart a = { .levels = LEVELS_UNSURE };

	for (t->n_refs = 0; t->n_refs < MOST && a.levels == LEVELS_UNSURE; ) {
		t->good[t->n_refs] = s->v[s->at++];
		t->bad[t->n_refs++] = s->v[s->at++] * ratio;
		ck_assert_int_eq(decide_apart(&a, (struct sample){ t->good, t->n_refs },
					      (struct sample){ t->bad, t->n_refs }, &matters,
					      ERROR / MOST), 0);
	}
	return a.levels;
}

static enum decision find_level(struct trial *t, struct source *s, double ratio)
{
	enum decision d = DECIDE_UNSURE;
	double odds;

	for (t->n = 0; t->n < MOST && d == DECIDE_UNSURE; ) {
		t->new[t->n++] = s->v[s->at++] * ratio;
		ck_assert_int_eq(decide_odds(&odds, (struct sample){ t->good, t->n_refs },
					     (struct sample){ t->bad, t->n_refs },
					     (struct sample){ t->new, t->n }), 0);
		d = decide(odds, t->n, ERROR);
	}
	return d;
}

static const double ratios[] = { 1.1, 1.2, 0.8 };

#define N_RATIOS ((int)ARRAY_SIZE(ratios))

/* The error rate is at most the stated one, for any noise (within three standard
 * deviations). Large differences need fewer runs. */
TEST_LOOP(errs_as_stated, NOISE_KINDS * N_RATIOS)
{
	enum noise_kind kind = (enum noise_kind)(_i / N_RATIOS);
	double ratio = ratios[_i % N_RATIOS], runs = 0;
	size_t decided = 0, wrong = 0, unsure = 0, found = 0;
	struct source s = { .noise = { 1000 + (uint64_t)_i } };

	for (int i = 0; i < TRIALS; i++) {
		bool is_bad = i % 2;
		enum decision d;
		struct trial t;

		begin(&s, kind);
		if (find_levels(&t, &s, ratio) != LEVELS_DIFFER)
			continue;
		found++;
		d = find_level(&t, &s, is_bad ? ratio : 1);
		unsure += d == DECIDE_UNSURE;
		wrong += d == (is_bad ? DECIDE_GOOD : DECIDE_BAD);
		runs += t.n;
	}
	decided = found - unsure;
	ck_assert_uint_ge(found, TRIALS * 6 / 10);
	ck_assert_uint_ge(decided, found * 9 / 10);
	ck_assert_msg(wrong <= ERROR * decided + 3 * sqrt(ERROR * decided), "%s, x %.1f: %zu",
		      noise_name[kind], ratio, wrong);
	ck_assert_msg(runs <= (ratio == 1.1 ? 4.5 : 2.6) * found, "%s, x %.1f: %.2f runs",
		      noise_name[kind], ratio, runs / found);
}

/* Equal builds are neither reported as different nor wrongly as equal. */
TEST_LOOP(no_difference, NOISE_KINDS)
{
	enum noise_kind kind = (enum noise_kind)_i;
	struct source s = { .noise = { 77 } };
	size_t differ = 0;

	for (int i = 0; i < TRIALS; i++) {
		struct trial t;

		begin(&s, kind);
		differ += find_levels(&t, &s, 1) == LEVELS_DIFFER;
	}
	ck_assert_uint_le(differ, ERROR * TRIALS + 3 * sqrt(ERROR * TRIALS));
}

#define SAMPLE(...) { (const double []){ __VA_ARGS__ }, \
		      sizeof (double []){ __VA_ARGS__ } / sizeof(double) }

static const struct {
	struct sample good, bad, new;
	enum levels levels;
	enum decision decision;
} cases[] = {
	/* exact, as bytes are */
	{ SAMPLE(100, 100, 100), SAMPLE(120, 120, 120), SAMPLE(120, 120), LEVELS_DIFFER,
	  DECIDE_BAD },
	{ SAMPLE(100, 100, 100), SAMPLE(120, 120, 120), SAMPLE(100, 100), LEVELS_DIFFER,
	  DECIDE_GOOD },
	{ SAMPLE(100, 100, 100), SAMPLE(101, 101, 101), SAMPLE(101, 101), LEVELS_SAME,
	  DECIDE_BAD },
	/* one run is not enough */
	{ SAMPLE(100, 100, 100), SAMPLE(120, 120, 120), SAMPLE(120), LEVELS_DIFFER,
	  DECIDE_UNSURE },
	/* between */
	{ SAMPLE(100, 101, 102, 100), SAMPLE(120, 121, 122, 120), SAMPLE(110, 110.5, 111),
	  LEVELS_DIFFER, DECIDE_UNSURE },
	/* disturbed */
	{ SAMPLE(100, 101, 102, 100), SAMPLE(120, 121, 122, 120), SAMPLE(100, 160, 101),
	  LEVELS_DIFFER, DECIDE_GOOD },
	{ SAMPLE(100, 99, 101, 160, 100, 101), SAMPLE(150, 151, 149, 150, 152, 150),
	  SAMPLE(101, 100), LEVELS_DIFFER, DECIDE_GOOD },
	/* 0 before, so that there is no share */
	{ SAMPLE(0, 0, 0), SAMPLE(4096, 4096, 4096), SAMPLE(0, 0), LEVELS_DIFFER, DECIDE_GOOD },
	{ SAMPLE(0, 0, 0), SAMPLE(0, 0, 0), SAMPLE(0, 0), LEVELS_UNSURE, DECIDE_UNSURE },
	{ SAMPLE(1, 1, 0), SAMPLE(1e9, 1e9, 1.1e9), SAMPLE(1e9, 1e9), LEVELS_DIFFER, DECIDE_BAD },
	{ SAMPLE(-3, -3.1, -2.9), SAMPLE(5, 5.1, 4.9), SAMPLE(5.1, 5), LEVELS_DIFFER,
	  DECIDE_BAD },
	/* thousandfold */
	{ SAMPLE(1, 1.1, 1.05), SAMPLE(1e6, 1.1e6, 1.05e6), SAMPLE(1.01, 1.02), LEVELS_DIFFER,
	  DECIDE_GOOD },
};

TEST_EACH(cases_by_hand, cases)
{
	struct apart a;
	double odds, turned;

	ck_assert_int_eq(decide_apart(&a, cases[_i].good, cases[_i].bad, &matters, 0.01), 0);
	ck_assert_int_eq(a.levels, cases[_i].levels);
	ck_assert_int_eq(decide_odds(&odds, cases[_i].good, cases[_i].bad, cases[_i].new), 0);
	ck_assert_int_eq(decide(odds, cases[_i].new.n, 0.01), cases[_i].decision);
	/* swapped, the result is the opposite */
	if (cases[_i].good.v[0] > 0) {
		ck_assert_int_eq(decide_odds(&turned, cases[_i].bad, cases[_i].good,
					     cases[_i].new), 0);
		ck_assert_double_eq_tol(odds, -turned, 1e-6 * (1 + fabs(odds)));
	}
}

/* A small absolute change is ignored, whatever its share. */
TEST(too_small_to_matter)
{
	struct sample good = SAMPLE(100, 101, 99, 100), bad = SAMPLE(150, 151, 149, 150);
	struct apart a;

	ck_assert_int_eq(decide_apart(&a, good, bad, &(struct matters){ 0.05, 200, 0 }, 0.01), 0);
	ck_assert_int_eq(a.levels, LEVELS_SAME);
	ck_assert_int_eq(decide_apart(&a, good, bad, &(struct matters){ 0.05, 40, 0 }, 0.01), 0);
	ck_assert_int_eq(a.levels, LEVELS_DIFFER);
	ck_assert_double_eq_tol(a.effect, 0.5, 0.01);
	ck_assert(a.in.low < 0.5 && a.in.high > 0.5 && a.in.low > 0.4 && a.in.high < 0.6);
}

/* What hides a difference. */
static const struct {
	struct sample good, bad;
	struct matters matters;
	enum levels levels;
	enum hidden hidden;
} hides[] = {
	{ SAMPLE(100, 101, 99, 100), SAMPLE(150, 151, 149, 150), { .share = 0.05 }, LEVELS_DIFFER,
	  HIDDEN_NOT },
	{ SAMPLE(100, 101, 99, 100), SAMPLE(103, 104, 102, 103), { 0.1, 1, 0 }, LEVELS_SAME,
	  HIDDEN_BY_SHARE },
	{ SAMPLE(100, 101, 99, 100), SAMPLE(103, 104, 102, 103), { 0.01, 20, 0 }, LEVELS_SAME,
	  HIDDEN_BY_AMOUNT },
	{ SAMPLE(100, 101, 99, 100), SAMPLE(150, 151, 149, 150), { 0.05, 1, 151 }, LEVELS_SAME,
	  HIDDEN_BY_FLOOR },
	{ SAMPLE(100, 101, 99, 100), SAMPLE(150, 151, 149, 150), { 0.05, 1, 149 }, LEVELS_DIFFER,
	  HIDDEN_NOT },
	{ SAMPLE(100, 140, 90, 120), SAMPLE(130, 100, 160, 140), { .share = 0.05 }, LEVELS_UNSURE,
	  HIDDEN_BY_NOISE },
	/* surely a difference, but it may be smaller than the share */
	{ SAMPLE(100, 101, 99, 100), SAMPLE(104, 105, 103, 104), { .share = 0.045 }, LEVELS_UNSURE,
	  HIDDEN_BY_SHARE },
	{ SAMPLE(100, 101, 99, 100), SAMPLE(104, 105, 103, 104), { 0.01, 4.5, 0 }, LEVELS_UNSURE,
	  HIDDEN_BY_AMOUNT },
};

TEST_EACH(hidden, hides)
{
	struct apart a;

	ck_assert_int_eq(decide_apart(&a, hides[_i].good, hides[_i].bad, &hides[_i].matters, 0.01), 0);
	ck_assert_int_eq(a.levels, hides[_i].levels);
	ck_assert_int_eq(a.hidden, hides[_i].hidden);
}

/* 0 before and after, with a limit of the amount. */
TEST(nothing_at_all)
{
	struct sample none = SAMPLE(0, 0, 0);
	struct apart a;

	ck_assert_int_eq(decide_apart(&a, none, none, &(struct matters){ 0.05, 1, 0 }, 0.01), 0);
	ck_assert_int_eq(a.levels, LEVELS_SAME);
	ck_assert_double_eq(a.effect, 0);
}

TEST(surprise)
{
	struct sample good = SAMPLE(100, 101, 99, 100), bad = SAMPLE(150, 151, 149, 150);

	ck_assert_double_gt(decide_surprise(good, bad, 100.5), 0.3);
	ck_assert_double_lt(decide_surprise(good, bad, 110), 0.001);
	ck_assert_double_lt(decide_surprise(bad, good, 110), 0.001);
}

TEST_MAIN(decide);
