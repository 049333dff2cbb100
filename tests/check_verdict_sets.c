/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "compare/verdict.h"
#include "tests/made_series.h"
#include "tests/noise.h"
#include "tests/support.h"

/* Sets of runs in a history: a value varies between builds, and within a set less than that. */

#define BUILDS 50
#define NEWEST (BUILDS - 1)
#define TASKS 200
#define SEEDS 4
#define MANY_RUNS 5

/* Which builds are sets. */
enum mix { ALL_SINGLE, ALL_SETS, EVERY_SECOND, LAST_IS_SET, SETS_SINCE_HALF, LAST_IS_SINGLE, MIXES };

static bool is_set(enum mix mix, uint32_t build)
{
	switch (mix) {
	case ALL_SETS: return true;
	case EVERY_SECOND: return build % 2;
	case LAST_IS_SET: return build == NEWEST;
	case LAST_IS_SINGLE: return build != NEWEST;
	case SETS_SINCE_HALF: return build >= BUILDS / 2;
	default: return false;
	}
}

struct made_history {
	enum mix mix;
	uint64_t seed;
	uint32_t runs;
	double between, within;	/* noise */
	int student;		/* of `between` */
	double spikes;		/* of runs */
	double step;		/* of every tenth task, in the newest build */
};

static float spreads[METRICS][BUILDS][TASKS];
static struct builds builds;
static struct verdict verdict;

static int spread(const struct builds *b, uint32_t build, enum metric m, float *values,
		  struct error *err)
{
	(void)err;
	memcpy(values, spreads[m][build], b->n_tasks * sizeof *values);
	return 0;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The runs of one build of a task, whose value without them is `value`. */
static float run(struct noise *noise, const struct made_history *h, float value, uint32_t n, float *deviation)
{
	double v[MANY_RUNS], mean = 0, squares = 0;

	for (uint32_t i = 0; i < n; i++) {
		v[i] = (double)value * exp(h->within * noise_normal(noise));
		if (noise_uniform(noise) < h->spikes)
			v[i] *= 1.3 - 0.1 * log(noise_uniform(noise));
		mean += v[i] / n;
	}
	for (uint32_t i = 0; i < n; i++)
		squares += (v[i] - mean) * (v[i] - mean);
	*deviation = n > 1 ? (float)sqrt(squares / (n - 1)) : NAN;
	qsort(v, n, sizeof *v, by_value);
	return (float)((v[(n - 1) / 2] + v[n / 2]) / 2);
}

static void judge(const struct made_history *h)
{
	struct made made = { .seed = h->seed, .tasks = TASKS, .builds = BUILDS, .noise = h->between,
			     .student = h->student, .host = 0.02 };
	struct noise noise = { .state = h->seed * 77 + 1 };
	struct error err = { 0 };
	struct rules rules;

	rules_init(&rules);
	for (enum metric m = 0; m < METRICS; m++)
		rules.gate[m].amount = 0;
	ck_assert(!made_series(&builds, &made));
	builds.spread = spread;
	for (enum metric m = 0; m < METRICS; m++) {
		float *v = m == METRIC_IO ? NULL : made_series_values(&builds, m);

		for (uint32_t b = 0; v && b < BUILDS; b++) {
			uint32_t n = is_set(h->mix, b) ? h->runs : 1;

			builds.build[b].runs = n > 1 ? n : 0;
			builds.build[b].spread[m] = h->within / 10 * metric_total(builds.build[b].total, m);
			for (size_t t = 0; t < TASKS; t++) {
				v[t * BUILDS + b] = run(&noise, h, v[t * BUILDS + b], n, &spreads[m][b][t]);
				if (b == NEWEST && t % 10 == 0)
					v[t * BUILDS + b] *= (float)(1 + h->step);
			}
		}
	}
	ck_assert_msg(!verdict_make(&verdict, &builds, &rules, NULL, &err), "%s", err.message);
}

static void release(void)
{
	verdict_release(&verdict);
	builds_release(&builds);
}

/* Findings of a state about tasks that changed, or about others. */
static size_t found(enum verdict_state state, bool changed)
{
	size_t n = 0;

	for (size_t i = 0; i < verdict.n; i++) {
		const struct verdict_finding *f = &verdict.finding[i];

		n += f->state == state && f->task < TASKS && (f->task % 10 == 0) == changed;
	}
	return n;
}

static const struct {
	double between, within;
	int student;
	double spikes;
} kinds[] = {
	{ 0.03, 0.03, 0, 0 }, { 0.01, 0.04, 0, 0 }, { 0.04, 0.01, 0, 0 },
	{ 0.02, 0.03, 0, 0.01 }, { 0.03, 0.02, 3, 0 }, { 0.02, 0.03, 3, 0.01 },
};

static struct made_history history_of(int kind, enum mix mix, uint64_t seed, uint32_t runs, double step)
{
	return (struct made_history){
		mix, seed, runs, kinds[kind].between, kinds[kind].within, kinds[kind].student,
		kinds[kind].spikes, step,
	};
}

/* Nothing changed: of all builds of all seeds, one false alarm at most, with any mix. */
TEST_LOOP(quiet, ARRAY_SIZE(kinds) * MIXES)
{
	size_t n_confirmed = 0, n_suspects = 0;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct made_history h = history_of(_i / MIXES, _i % MIXES, seed, seed % 2 ? 3 : 5, 0);

		judge(&h);
		n_confirmed += found(FINDING_CONFIRMED, false) + found(FINDING_CONFIRMED, true);
		n_suspects += found(FINDING_SUSPECT, false) + found(FINDING_SUSPECT, true);
		release();
	}
	ck_assert_uint_le(n_confirmed, 1);
	ck_assert_uint_le(n_suspects, 3);
}

/* Findings about tasks with a change that is hard to see. */
static size_t shown(int kind, enum mix mix, uint32_t runs)
{
	size_t n = 0;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct made_history h = history_of(kind, mix, seed, runs, 0.15);

		judge(&h);
		n += found(FINDING_CONFIRMED, true) + found(FINDING_SUSPECT, true);
		release();
	}
	return n;
}

/* What a set shows is not less than what a single build shows. */
TEST_LOOP(power, 9)
{
	size_t single = shown(_i / 3, ALL_SINGLE, 1);
	size_t set = shown(_i / 3, ALL_SETS + (enum mix)(_i % 3), 5);

	ck_assert_msg(set >= single && set, "%zu of sets, %zu of single builds", set, single);
}

/* A small set neither, over noise of all kinds: of noise that its runs share it has as much. */
TEST_LOOP(power_of_three, 3)
{
	size_t single = 0, set = 0;

	for (int kind = 0; kind < 3; kind++) {
		single += shown(kind, ALL_SINGLE, 1);
		set += shown(kind, ALL_SETS + (enum mix)_i, 3);
	}
	ck_assert_msg(set >= single, "%zu of sets, %zu of single builds", set, single);
}

/* A set among sets confirms a clear change alone: a single build, or a set of two, cannot. */
TEST_LOOP(confirms_alone, 4)
{
	static const struct { enum mix mix; uint32_t runs; bool can; } cases[] = {
		{ ALL_SETS, 5, true }, { ALL_SETS, 2, false }, { ALL_SINGLE, 1, false },
		{ SETS_SINCE_HALF, 2, false },
	};
	struct made_history h = history_of(1, cases[_i].mix, 3, cases[_i].runs, 0.3);

	judge(&h);
	ck_assert_uint_eq(found(FINDING_CONFIRMED, false), 0);
	ck_assert_uint_ge(found(FINDING_CONFIRMED, true) + found(FINDING_SUSPECT, true), TASKS / 10);
	if (cases[_i].can)
		ck_assert_uint_ge(found(FINDING_CONFIRMED, true), TASKS / 10);
	else
		ck_assert_uint_eq(found(FINDING_CONFIRMED, true), 0);
	release();
}

TEST_MAIN(verdict_sets);
