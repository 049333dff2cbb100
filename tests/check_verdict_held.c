/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "compare/presence.h"
#include "compare/verdict.h"
#include "tests/made_series.h"
#include "tests/noise.h"
#include "tests/support.h"

/* What check says build after build. */

#define MOST_BUILDS 80

static struct builds all;	/* generated once; a check sees the first ones */
static struct rules rules;
static struct verdict verdict;

/* The verdict about the first n builds. */
static void judge_known(size_t n, const struct known_list *known)
{
	struct builds first = all;
	struct error err = { 0 };

	first.n = n;
	verdict_release(&verdict);
	ck_assert_msg(!verdict_make(&verdict, &first, &rules, known, &err), "%s", err.message);
}

static void judge(size_t n)
{
	judge_known(n, NULL);
}

static void setup(void)
{
	made_series_rules(&rules);
}

static void teardown(void)
{
	verdict_release(&verdict);
	builds_release(&all);
}

static const struct verdict_finding *find(uint32_t task, enum metric m)
{
	for (size_t i = 0; i < verdict.n; i++) {
		if (verdict.finding[i].task == task && verdict.finding[i].metric == m)
			return &verdict.finding[i];
	}
	return NULL;
}

static size_t number(struct noise *n, size_t from, size_t to)
{
	return from + (size_t)(noise_uniform(n) * (double)(to - from + 1));
}

#define TASKS 100
#define LATER 14

static struct made_change change[TASKS + 1];

/* The first `share` of the tasks change by `by` in a build. */
static size_t change_tasks(size_t share, size_t build, double by)
{
	for (size_t i = 0; i < share; i++)
		change[i] = (struct made_change){ .task = i, .build = build, .by = by };
	return share;
}

TEST_GROUP_WITH("verdict_held", setup, teardown);

/* Whatever the history, the share of tasks and the step: once confirmed, every later build fails.
 * No task whose value stayed is called better, and nothing is both confirmed and suspected. */
TEST_LOOP(stays, 24)
{
	struct noise random = { 77 + (uint64_t)_i };
	size_t history = number(&random, 6, 60), share = number(&random, 1, 4);
	double by = 0.12 * pow(20, noise_uniform(&random));
	struct made made = { .seed = 1000 + (uint64_t)_i, .tasks = TASKS, .builds = history + LATER,
			     .noise = 0.025, .host = 0.02, .change = change };
	bool confirmed = false;

	share = share == 1 ? 1 : share == 2 ? number(&random, 2, 30) :
		share == 3 ? number(&random, 40, 95) : TASKS;
	made.n_changes = change_tasks(share, history, by);
	ck_assert(!made_series(&all, &made));
	for (size_t n = history + 1; n <= history + LATER; n++) {
		size_t told = 0;

		judge(n);
		ck_assert_msg(!confirmed || verdict.n_confirmed,
			      "%zu of history, %zu tasks +%.2f: forgotten after %zu", history, share,
			      by, n - history);
		for (size_t i = 0; i < verdict.n; i++) {
			const struct verdict_finding *f = &verdict.finding[i];

			ck_assert_msg(f->worse || f->task < share || f->task >= HISTORY_ALL ||
				      f->since < history, "%zu tasks +%.2f: %u is better", share, by,
				      f->task);
			told += f->fails && f->since + 3 >= history;
			for (size_t k = 0; k < i; k++)
				ck_assert(f->task != verdict.finding[k].task ||
					  f->metric != verdict.finding[k].metric ||
					  f->since != verdict.finding[k].since);
		}
		confirmed = confirmed || told;
	}
	ck_assert_msg(confirmed, "%zu of history, %zu tasks +%.2f: never found", history, share, by);
}

/* A window of builds that must agree can be longer than what they are compared with. */
TEST_LOOP(long_agreement, 16)
{
	struct noise random = { 500 + (uint64_t)_i };
	struct made made = { .seed = 2000 + (uint64_t)_i, .tasks = TASKS, .builds = 60,
			     .noise = 0.05, .host = 0.02, .change = change };
	bool confirmed = false;

	rules.agree = 3 + _i % 8;
	rules.least_history = 2;
	rules.window = fmax(10, rules.agree + rules.least_history);
	made.n_changes = change_tasks(20, 30, 0.12 + 0.1 * noise_uniform(&random));
	ck_assert(!made_series(&all, &made));
	for (size_t n = 31; n <= made.builds; n++) {
		judge(n);
		ck_assert_msg(!confirmed || verdict.n_confirmed, "forgotten after %zu", n - 30);
		for (size_t i = 0; i < verdict.n; i++) {
			const struct verdict_finding *f = &verdict.finding[i];

			confirmed = confirmed || (f->fails && f->task < 20 && f->since + 3 >= 30);
			ck_assert(isfinite(f->low) && isfinite(f->high));
			ck_assert_msg(f->high - f->low > 0.005, "%g to %g", f->low, f->high);
		}
	}
	ck_assert(confirmed);
}

/* What incremental builds do not run is not gone; what whole builds do not run is. */
TEST(incremental)
{
	struct made made = { .seed = 21, .tasks = TASKS, .builds = 40, .noise = 0.025, .host = 0.02,
			     .change = change, .n_changes = change_tasks(1, 30, 1) };
	uint32_t whole[40];
	struct presence presence = { .n_builds = 40, .n_tasks = TASKS, .whole = whole };
	float *wall, *cpu;

	ck_assert(!made_series(&all, &made));
	wall = made_series_values(&all, METRIC_WALL);
	cpu = made_series_values(&all, METRIC_CPU);
	for (uint32_t b = 0; b < 40; b++) {
		whole[b] = b;
		for (size_t task = 0; b >= 35 && task < TASKS / 2; task++)
			wall[task * 40 + b] = cpu[task * 40 + b] = NAN;
	}
	all.presence = &presence;
	presence.n_whole = 35;
	judge(40);
	ck_assert_ptr_nonnull(find(0, METRIC_WALL));
	ck_assert(find(0, METRIC_WALL)->fails);
	presence.n_whole = 40;
	judge(40);
	ck_assert_ptr_null(find(0, METRIC_WALL));
	all.presence = NULL;
}

/* A change of most or all tasks: found at the second build, by its reason. */
static const size_t shares[] = { 10, 25, 40, 50, 60, 75, 90, 100 };

TEST_EACH(shared, shares)
{
	struct made made = { .seed = 4, .tasks = TASKS, .builds = 40, .noise = 0.025, .host = 0.02,
			     .change = change };
	const struct verdict_finding *f;

	made.n_changes = change_tasks(shares[_i], 30, 0.25);
	ck_assert(!made_series(&all, &made));
	for (size_t n = 32; n <= 40; n++) {
		judge(n);
		ck_assert_uint_gt(verdict.n_confirmed, 0);
		for (size_t i = 0; i < verdict.n; i++)
			ck_assert(verdict.finding[i].worse);
		f = find(TASK_HOST, METRIC_CPU);
		if (shares[_i] == 100) {
			ck_assert(f && f->fails && f->tasks >= 98);
			ck_assert_double_eq_tol(f->effect, 0.25, 0.06);
		} else if (shares[_i] <= 75) {
			ck_assert_ptr_null(f);
		}
	}
	rules.shared = SHARED_REPORT;
	judge(40);
	f = find(TASK_HOST, METRIC_CPU);
	ck_assert(!f || !f->fails);
	if (shares[_i] == 100)
		ck_assert_uint_eq(verdict.n_confirmed, 0);
}

/* The machine is slow for one build. */
TEST(slow_build)
{
	struct made made = { .tasks = TASKS, .builds = 36, .noise = 0.025, .host = 0.02,
			     .change = change, .n_changes = 1 };

	change[0] = (struct made_change){ .task = MADE_ALL, .build = 30, .until = 31, .by = 0.3 };
	for (made.seed = 1; made.seed <= 5; made.seed++) {
		ck_assert(!made_series(&all, &made));
		for (size_t n = 31; n <= 36; n++) {
			judge(n);
			ck_assert_uint_eq(verdict.n_confirmed, 0);
		}
		builds_release(&all);
	}
}

/* The machine becomes slower for good, and says so: no task and no revision is blamed. */
TEST(slow_machine)
{
	struct made made = { .seed = 3, .tasks = TASKS, .builds = 36, .noise = 0.025, .host = 0.02,
			     .change = change, .n_changes = 1 };

	change[0] = (struct made_change){ .task = MADE_ALL, .build = 30, .by = 0.3 };
	ck_assert(!made_series(&all, &made));
	for (size_t b = 0; b < all.n; b++) {
		all.build[b].total[TOTAL_HOST_CALIBRATION_START_US] =
			all.build[b].total[TOTAL_HOST_CALIBRATION_END_US] = b < 30 ? 25000 : 32500;
	}
	judge(36);
	for (size_t i = 0; i < verdict.n; i++)
		ck_assert_uint_ge(verdict.finding[i].task, TASK_HOST);
	ck_assert(find(TASK_HOST, METRIC_CPU) && !find(TASK_HOST, METRIC_CPU)->fails);
	ck_assert(find(TASK_HOST, METRIC_CPU)->machine);
}

/* Few tasks: two slow builds of the machine are one finding, not one of each task. */
TEST_RANGE(few_tasks, 2, 14)
{
	struct made made = { .seed = 6, .tasks = (size_t)_i, .builds = 32, .noise = 0.025,
			     .change = change, .n_changes = 1 };

	change[0] = (struct made_change){ .task = MADE_ALL, .build = 30, .by = 0.3 };
	ck_assert(!made_series(&all, &made));
	judge(32);
	for (size_t i = 0; i < verdict.n; i++)
		ck_assert_msg(verdict.finding[i].task >= HISTORY_ALL, "task %u of %d",
			      verdict.finding[i].task, _i);
	ck_assert_ptr_nonnull(find(TASK_HOST, METRIC_CPU));
}

/* Two steps are two findings, however close. */
TEST_RANGE(two_steps, 2, 9)
{
	struct made made = { .seed = 8, .tasks = TASKS, .builds = 46, .noise = 0.02, .host = 0.02,
			     .change = change, .n_changes = 2 };
	bool first = false, second = false;

	change[0] = (struct made_change){ .task = 7, .build = 30, .by = 0.2 };
	change[1] = (struct made_change){ .task = 7, .build = 30 + (size_t)_i, .by = 0.2 };
	ck_assert(!made_series(&all, &made));
	judge(46);
	for (size_t i = 0; i < verdict.n; i++) {
		const struct verdict_finding *f = &verdict.finding[i];

		if (f->task != 7 || f->metric != METRIC_CPU)
			continue;
		first = first || f->since == 30;
		second = second || f->since == 30 + (size_t)_i;
		ck_assert_double_eq_tol(f->effect, 0.2, 0.06);
	}
	ck_assert_msg(first && second, "%d builds apart: %s %s", _i, first ? "first" : "",
		      second ? "second" : "");
}

/* A regression ends when its level is left, and not before. */
TEST_RANGE(ends, 3, 16)
{
	struct made made = { .seed = 9, .tasks = TASKS, .builds = 60, .noise = 0.025, .host = 0.02,
			     .change = change, .n_changes = 1 };

	change[0] = (struct made_change){ .task = 7, .build = 30, .until = 30 + (size_t)_i, .by = 0.3 };
	ck_assert(!made_series(&all, &made));
	judge(30 + (size_t)_i);
	ck_assert_ptr_nonnull(find(7, METRIC_CPU));
	judge(32 + (size_t)_i);
	ck_assert_uint_eq(verdict.n_confirmed, 0);
	judge(60);
	ck_assert_uint_eq(verdict.n_confirmed, 0);
	if (_i >= 10)	/* what lasted ends with an improvement */
		ck_assert(find(7, METRIC_CPU) && !find(7, METRIC_CPU)->worse);
}

/* A part of a regression that is mended leaves the rest. */
TEST(mended_in_part)
{
	struct made made = { .seed = 10, .tasks = TASKS, .builds = 56, .noise = 0.02, .host = 0.02,
			     .change = change, .n_changes = 2 };
	const struct verdict_finding *f = NULL;

	change[0] = (struct made_change){ .task = 7, .build = 30, .by = 2 };
	change[1] = (struct made_change){ .task = 7, .build = 42, .by = -0.4 };
	ck_assert(!made_series(&all, &made));
	judge(56);
	for (size_t i = 0; i < verdict.n && !f; i++) {
		if (verdict.finding[i].task == 7 && verdict.finding[i].metric == METRIC_CPU &&
		    verdict.finding[i].worse)
			f = &verdict.finding[i];
	}
	ck_assert_ptr_nonnull(f);
	ck_assert_double_eq_tol(f->effect, 0.8, 0.1);
}

/* A failed build is not judged, and hides nothing; nor do several. */
TEST(failed)
{
	struct made made = { .seed = 11, .tasks = TASKS, .builds = 44, .noise = 0.025, .host = 0.02,
			     .change = change, .n_changes = 1 };
	struct verdict_finding before;

	change[0] = (struct made_change){ .task = 7, .build = 30, .by = 0.5 };
	ck_assert(!made_series(&all, &made));
	for (size_t b = 34; b < 43; b++)
		all.build[b].total[TOTAL_STATUS] = 2;
	judge(34);
	ck_assert(find(7, METRIC_CPU) && !verdict.not_judged);
	before = *find(7, METRIC_CPU);
	for (size_t n = 35; n <= 43; n++) {
		judge(n);
		ck_assert(verdict.not_judged);
		ck_assert_int_eq(verdict.build_status, 2);
		ck_assert_ptr_nonnull(find(7, METRIC_CPU));
		ck_assert(find(7, METRIC_CPU)->effect == before.effect);
		ck_assert_uint_eq(find(7, METRIC_CPU)->since, before.since);
	}
	judge(44);
	ck_assert(!verdict.not_judged && find(7, METRIC_CPU));
}

/* Accepting one finding leaves the others, and one step per build: every subset of them. */
TEST_LOOP(accepted, 16)
{
	struct made made = { .seed = 12, .tasks = TASKS, .builds = 44, .noise = 0.025, .host = 0.02,
			     .change = change };
	struct known note[4];
	struct known_list list = { 0, note };

	made.n_changes = change_tasks(4, 30, 0.4);
	ck_assert(!made_series(&all, &made));
	for (size_t i = 0; i < 4; i++) {
		if (_i >> i & 1)
			note[list.n++] = (struct known){ KNOWN_ACCEPTED, 36, all.task[i].name, ~0u, "",
							 "", .time_s = 0 };
	}
	for (size_t n = 37; n <= 44; n++) {
		judge_known(n, &list);
		for (uint32_t i = 0; i < 4; i++)
			ck_assert_int_eq(find(i, METRIC_CPU) != NULL, !(_i >> i & 1));
	}
}

/* Accepting a build that is as usual changes nothing: a step right after it is found. */
TEST(accepted_as_usual)
{
	struct made made = { .seed = 14, .tasks = TASKS, .builds = 44, .noise = 0.02, .host = 0.02,
			     .change = change };
	struct known note = { KNOWN_ACCEPTED, 29, "*", ~0u, "", "", .time_s = 0 };
	struct known_list list = { 1, &note };

	made.n_changes = change_tasks(1, 30, 0.5);
	ck_assert(!made_series(&all, &made));
	for (size_t n = 32; n <= 44; n++) {
		judge_known(n, &list);
		ck_assert_ptr_nonnull(find(0, METRIC_CPU));
		ck_assert_uint_eq(find(0, METRIC_CPU)->since, 30);
	}
}

/* A task that becomes slower by half a per cent each time is a slow change, of one finding. */
TEST(creeps)
{
	struct made made = { .seed = 13, .tasks = TASKS, .builds = MOST_BUILDS, .noise = 0.02,
			     .host = 0.02, .change = change, .n_changes = 1 };
	const struct verdict_finding *f;
	size_t found = 0;

	change[0] = (struct made_change){ .task = 7, .build = 30, .by = 0.25, .creep = true };
	ck_assert(!made_series(&all, &made));
	for (size_t n = 34; n <= MOST_BUILDS && !found; n++) {
		judge(n);
		found = find(7, METRIC_CPU) ? n - 30 : 0;
	}
	ck_assert_msg(found && found <= 30, "%zu", found);
	judge(MOST_BUILDS);
	f = find(7, METRIC_CPU);
	ck_assert(f && f->creep);
	ck_assert_msg(f->effect > 0.17, "only %g of it", f->effect);
	ck_assert_uint_le(f->first, 44);
	ck_assert_uint_ge(f->last, 66);
	for (size_t i = 0, n = 0; i < verdict.n; i++) {
		n += verdict.finding[i].task == 7 && verdict.finding[i].metric == METRIC_CPU;
		ck_assert_uint_le(n, 1);
	}
}

/* Changes below the amount do not hide later ones of other tasks. */
TEST_LOOP(below_amount, 4)
{
	struct made made = { .seed = (uint64_t)_i + 1, .tasks = 300, .builds = 44, .noise = 0.025,
			     .host = 0.02, .change = change };
	static const struct rule rule = { .pattern = "recipe[01]: *", .metrics = ~0U, .share = NAN,
					  .amount = 1e9, .floor = NAN, .ignored = -1 };
	size_t n = 0;

	rules.rule = &rule;
	rules.n = 1;
	for (size_t i = 0; i < 40; i++)
		change[i] = (struct made_change){ .task = i, .build = i < 20 ? 20 : 40,
						  .by = i < 20 ? 0.4 : 0.3 };
	made.n_changes = 40;
	ck_assert(!made_series(&all, &made));
	judge(44);
	for (uint32_t task = 0; task < 40; task++) {
		bool found = find(task, METRIC_WALL) || find(task, METRIC_CPU);

		ck_assert(task >= 20 || !found);
		n += found;
	}
	ck_assert_uint_ge(n, 19);
}

/* A few slow builds, then normal ones: the first normal one does not fail, and the newest value is
 * beside the level. */
TEST_EACH(back, ((const size_t[]){ 2, 3, 5, 8 }))
{
	size_t slow = ((const size_t[]){ 2, 3, 5, 8 })[_i];

	for (uint64_t seed = 1; seed <= 6; seed++) {
		struct made made = { .seed = seed, .tasks = 6, .builds = 20 + slow + 4, .noise = 0.02,
				     .host = 0.01, .change = change, .n_changes = 1 };

		change[0] = (struct made_change){ .task = MADE_ALL, .build = 20, .until = 20 + slow, .by = 0.3 };
		ck_assert(!made_series(&all, &made));
		judge(20 + slow);
		ck_assert_uint_gt(verdict.n_confirmed, 0);
		for (size_t i = 0; i < verdict.n; i++)
			ck_assert(!verdict.finding[i].back && verdict.finding[i].newest > verdict.finding[i].before);
		for (size_t n = 20 + slow + 1; n <= made.builds; n++) {
			judge(n);
			ck_assert_msg(!verdict.n_confirmed, "seed %d, %zu builds", (int)seed, n);
			for (size_t i = 0; i < verdict.n; i++) {
				const struct verdict_finding *f = &verdict.finding[i];

				ck_assert(!f->worse || f->state == FINDING_SUSPECT || f->back);
				ck_assert(!f->back || fabs(f->newest - f->before) < fabs(f->newest - f->now));
			}
		}
		builds_release(&all);
	}
}

/* Two builds confirm a change that later builds have less than half of: it is closed after three. */
TEST_LOOP(refuted, 6)
{
	struct made made = { .seed = 40 + (uint64_t)_i, .tasks = TASKS, .builds = 35, .noise = 0.01,
			     .change = change, .n_changes = 2 };

	change[0] = (struct made_change){ .task = 7, .metrics = METRIC_BIT(METRIC_CPU), .build = 30,
					  .until = 32, .by = 0.14 };
	change[1] = (struct made_change){ .task = 7, .metrics = METRIC_BIT(METRIC_CPU), .build = 32, .by = 0.04 };
	ck_assert(!made_series(&all, &made));
	judge(32);
	ck_assert_ptr_nonnull(find(7, METRIC_CPU));
	ck_assert(find(7, METRIC_CPU)->fails);
	judge(35);
	ck_assert_ptr_null(find(7, METRIC_CPU));
}

/* The tasks that changed together are listed: those, and no others. */
TEST_EACH(moved, ((const size_t[]){ 60, 75, 100 }))
{
	size_t share = ((const size_t[]){ 60, 75, 100 })[_i];
	struct made made = { .seed = 4, .tasks = TASKS, .builds = 36, .noise = 0.02, .host = 0.01,
			     .change = change, .n_changes = change_tasks(share, 30, 0.3) };
	const struct verdict_finding *f;

	ck_assert(!made_series(&all, &made));
	judge(36);
	f = find(TASK_HOST, METRIC_CPU);
	ck_assert(f || share < 100);
	for (size_t i = 0; f && i < f->n_moved; i++)
		ck_assert_uint_lt(verdict.moved[f->first_moved + i], share);
	ck_assert(!f || f->n_moved == f->tasks);
	ck_assert(!f || f->n_moved >= share * 95 / 100);
}

/* The interval of an effect contains it in about 95 of 100 cases, whatever the noise. */
static const struct made noise[] = {
	{ .noise = 0.03 }, { .noise = 0.03, .alike = 0.6 }, { .noise = 0.03, .student = 3 },
	{ .noise = 0.03, .spikes = 0.02 },
};

TEST_EACH(intervals, noise)
{
	size_t in = 0, n = 0;

	for (uint64_t seed = 1; seed <= 6; seed++) {
		struct made made = noise[_i];

		made.seed = seed;
		made.tasks = TASKS;
		made.builds = 44;
		made.host = 0.02;
		made.change = change;
		made.n_changes = change_tasks(20, 34, 0.5);
		ck_assert(!made_series(&all, &made));
		judge(44);
		for (size_t i = 0; i < verdict.n; i++) {
			const struct verdict_finding *f = &verdict.finding[i];

			if (f->task >= 20 || f->state != FINDING_CONFIRMED || !f->worse)
				continue;
			n++;
			in += f->low <= 0.5 && f->high >= 0.5;
		}
		builds_release(&all);
	}
	/* The others are found together. */
	ck_assert_uint_ge(n, 180);
	ck_assert_msg(in >= n * 92 / 100, "%zu of %zu", in, n);
}

TEST_MAIN(verdict_held);
