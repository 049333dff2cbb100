/* SPDX-License-Identifier: MIT */
#include "compare/diff.h"
#include "tests/made_values.h"
#include "tests/noise.h"
#include "tests/support.h"

/*
 * What diff finds between sets of generated builds: 60 tasks of .05 to 20 s in a build of a minute. The noise
 * is 3 % and 3 ms, and some values are spikes. The same seeds give the same builds everywhere.
 */

#define TASKS 60
#define SHORTEST_US 5e4
#define LONGEST_US 2e7
#define WORKERS 4
#define RUNS_MAX 10

static const size_t planted[] = { 0, 24, 52, 59 };

struct kind {
	size_t runs;
	double spikes;
	double by;
};

static double length_us(size_t task)
{
	return SHORTEST_US * pow(LONGEST_US / SHORTEST_US, (double)task / (TASKS - 1));
}

static bool is_planted(size_t task)
{
	for (size_t i = 0; i < ARRAY_SIZE(planted); i++) {
		if (planted[i] == task)
			return true;
	}
	return false;
}

static void make_build(struct values *f, struct noise *noise, const struct kind *kind, double by)
{
	RELEASED(buf, text = BUF_INIT);
	double host = exp(0.01 * noise_normal(noise)), sum = 0;

	for (size_t i = 0; i < TASKS; i++) {
		double us = length_us(i) * (is_planted(i) ? 1 + by : 1) * host *
			    exp(0.03 * noise_normal(noise)) + 3000 * fabs(noise_normal(noise));

		if (noise_uniform(noise) < kind->spikes)
			us *= 1.3 + noise_uniform(noise);
		sum += us;
		buf_addf(&text, "t%02zu|cc|wall_us=%.0f\n", i, us);
	}
	buf_addf(&text, "+wall_us=%.0f\n", sum / WORKERS);
	made_values(f, buf_str(&text));
}

/* Adds what a diff of two sets finds. */
static void compare(const struct kind *kind, uint64_t seed, size_t *found, size_t *wrong)
{
	struct values run[2 * RUNS_MAX];
	struct noise noise = { seed };
	struct rules rules;
	struct diff_options o = { &rules, NULL };
	struct diff d;

	rules_init(&rules);
	rules.metrics = METRIC_BIT(METRIC_WALL);
	for (size_t i = 0; i < 2 * kind->runs; i++)
		make_build(&run[i], &noise, kind, i < kind->runs ? 0 : kind->by);
	ck_assert_int_eq(diff_make(&d, run, kind->runs, run + kind->runs, kind->runs, &o), 0);
	for (size_t i = 0; i < TASKS; i++) {
		enum samples_verdict v = d.value[METRIC_WALL][i].verdict;
		bool told = v == VERDICT_HIGHER || v == VERDICT_LOWER;

		if (!is_planted(i) || !(kind->by > 0))
			*wrong += told;
		for (size_t k = 0; kind->by > 0 && k < ARRAY_SIZE(planted); k++)
			found[k] += planted[k] == i && told;
	}
	diff_release(&d);
	for (size_t i = 0; i < 2 * kind->runs; i++)
		values_release(&run[i]);
}

/* Found are at least these shares of REPS diffs, for a task of .05, .6, 10 and 20 s; wrong at most so many
 * values in all of them. A spike is one value that is 1.3 to 2.3 times as large. */
#define REPS 40

static const struct {
	struct kind kind;
	double found[ARRAY_SIZE(planted)];
	size_t wrong;
} rows[] = {
	{ { 5, 0, 0 }, { 0 }, 1 },
	{ { 5, 0.01, 0 }, { 0 }, 1 },
	{ { 5, 0.05, 0 }, { 0 }, 1 },
	{ { 5, 0, 0.05 }, { 0 }, 2 },
	{ { 5, 0, 0.1 }, { 0, 0.7, 0.7, 0.7 }, 3 },
	{ { 5, 0, 0.2 }, { 0, 0.95, 0.95, 0.95 }, 3 },
	{ { 5, 0, 1 }, { 1, 1, 1, 1 }, 3 },
	{ { 5, 0.01, 0.2 }, { 0, 0.8, 0.8, 0.8 }, 2 },
	{ { 5, 0.01, 1 }, { 0.9, 0.9, 0.9, 0.9 }, 2 },
	{ { 10, 0, 0 }, { 0 }, 1 },
	{ { 10, 0.01, 0 }, { 0 }, 1 },
	{ { 10, 0.05, 0 }, { 0 }, 1 },
	{ { 10, 0, 0.05 }, { 0 }, 2 },
	{ { 10, 0, 0.1 }, { 0, 0.9, 0.9, 0.9 }, 2 },
	{ { 10, 0, 0.2 }, { 0, 1, 1, 1 }, 2 },
	{ { 10, 0, 1 }, { 1, 1, 1, 1 }, 2 },
	{ { 10, 0.01, 0.1 }, { 0, 0.7, 0.7, 0.7 }, 2 },
	{ { 10, 0.05, 1 }, { 0.95, 0.95, 0.95, 0.95 }, 2 },
};

TEST_EACH(shares, rows)
{
	size_t found[ARRAY_SIZE(planted)] = { 0 }, wrong = 0;

	for (uint64_t seed = 1; seed <= REPS; seed++)
		compare(&rows[_i].kind, seed, found, &wrong);
	for (size_t i = 0; i < ARRAY_SIZE(planted); i++)
		ck_assert_msg((double)found[i] >= rows[_i].found[i] * REPS,
			      "%.2g s: found in %zu of %d", length_us(planted[i]) / 1e6, found[i], REPS);
	ck_assert_msg(wrong <= rows[_i].wrong, "%zu wrong", wrong);
}

/* Two sets of a build of some tasks alone: `base` and `now` are wall times of a task in ms, with 1 % noise. */
static const struct {
	const char *what;
	size_t runs, tasks;	/* the first one differs */
	double base, now;
	bool found;
} pairs[] = {
	{ "half a second more", 5, 1, 620, 1220, true },
	{ "half a second less", 5, 1, 1220, 620, true },
	{ "a tenth of ten seconds", 10, 1, 10000, 11000, true },
	{ "a tenth of ten seconds, in an hour", 10, 360, 10000, 11000, true },
	{ "too many for the ranks of ten values", 10, 999, 10000, 11500, true },
	{ "time slices", 5, 1, 20, 28, false },
	{ "nothing", 5, 1, 620, 620, false },
};

TEST_EACH(alone, pairs)
{
	size_t runs = pairs[_i].runs;
	struct values run[2 * RUNS_MAX];
	struct noise noise = { 5 };
	struct rules rules;
	struct diff_options o = { &rules, NULL };
	struct diff d;

	rules_init(&rules);
	rules.metrics = METRIC_BIT(METRIC_WALL);
	for (size_t i = 0; i < 2 * runs; i++) {
		RELEASED(buf, text = BUF_INIT);
		double sum = 0;

		for (size_t k = 0; k < pairs[_i].tasks; k++) {
			double ms = i < runs || k ? pairs[_i].base : pairs[_i].now;

			ms *= exp(0.01 * noise_normal(&noise));
			sum += ms;
			buf_addf(&text, "t%03zu|cc|wall_us=%.0f\n", k, 1e3 * ms);
		}
		buf_addf(&text, "+wall_us=%.0f\n", 1e3 * sum);
		made_values(&run[i], buf_str(&text));
	}
	ck_assert_int_eq(diff_make(&d, run, runs, run + runs, runs, &o), 0);
	ck_assert_msg((d.n_higher[METRIC_WALL] + d.n_lower[METRIC_WALL] > 0) == pairs[_i].found, "%s",
		      pairs[_i].what);
	ck_assert_int_eq(diff_is_worse(&d), pairs[_i].found && pairs[_i].now > pairs[_i].base);
	ck_assert_uint_ge(d.n_tests, 1);
	diff_release(&d);
	for (size_t i = 0; i < 2 * runs; i++)
		values_release(&run[i]);
}

TEST_MAIN(diff_sets);
