/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "compare/verdict.h"
#include "tests/made_series.h"
#include "tests/support.h"

#include <sched.h>

#define BUILDS 50
#define NEWEST (BUILDS - 1)
#define TASKS 200

static struct builds builds;
static struct verdict verdict;
static struct rules rules;

static void setup(void)
{
	rules_init(&rules);
	for (enum metric m = 0; m < METRICS; m++)
		rules.gate[m].amount = 0;
}

static void teardown(void)
{
	verdict_release(&verdict);
	builds_release(&builds);
}

static void make(const struct made_change *change, size_t n)
{
	struct made made = { .seed = 5, .tasks = TASKS, .builds = BUILDS, .noise = 0.03, .host = 0.02,
			     .change = change, .n_changes = n };

	ck_assert(!made_series(&builds, &made));
}

static void judge(const struct known_list *known)
{
	struct error err = { 0 };

	ck_assert_msg(!verdict_make(&verdict, &builds, &rules, known, &err), "%s", err.message);
}

static const struct verdict_finding *find(uint32_t task, enum metric m)
{
	for (size_t i = 0; i < verdict.n; i++) {
		if (verdict.finding[i].task == task && verdict.finding[i].metric == m)
			return &verdict.finding[i];
	}
	return NULL;
}

/* One change of the memory of task 7, as it is reported. */
static const struct {
	const char *what;
	struct made_change change;
	int told;		/* an enum verdict_state, -1: not reported */
	bool worse;
	uint32_t first, last;	/* its first build is between them */
	double effect;
} steps[] = {
	{ "nothing", { .by = 0 }, -1, false, 0, 0, 0 },
	{ "one build", { .build = NEWEST, .by = 0.3 }, FINDING_SUSPECT, true, NEWEST, NEWEST, 0.3 },
	{ "two builds", { .build = NEWEST - 1, .by = 0.3 }, FINDING_CONFIRMED, true, NEWEST - 1,
	  NEWEST - 1, 0.3 },
	{ "four builds", { .build = NEWEST - 3, .by = 0.3 }, FINDING_CONFIRMED, true, NEWEST - 3,
	  NEWEST - 3, 0.3 },
	{ "weeks", { .build = 25, .by = 0.15 }, FINDING_CONFIRMED, true, 24, 26, 0.15 },
	{ "for the better", { .build = NEWEST - 1, .by = -0.3 }, FINDING_CONFIRMED, false,
	  NEWEST - 1, NEWEST - 1, -0.3 },
	{ "for the better, weeks ago", { .build = 20, .by = -0.2 }, FINDING_CONFIRMED, false, 19, 21,
	  -0.2 },
	{ "gone again", { .build = 10, .until = NEWEST - 5, .by = 0.3 }, FINDING_CONFIRMED, false,
	  NEWEST - 5, NEWEST - 5, 1 / 1.3 - 1 },
	{ "passing", { .build = 30, .until = 33, .by = 0.3 }, -1, false, 0, 0, 0 },
	{ "less than matters", { .build = 20, .by = 0.03 }, -1, false, 0, 0, 0 },
	{ "enormous", { .build = NEWEST - 1, .by = 20 }, FINDING_CONFIRMED, true, NEWEST - 1,
	  NEWEST - 1, 20 },
};

TEST_GROUP_WITH("verdict", setup, teardown);

TEST_EACH(step, steps)
{
	struct made_change change = steps[_i].change;
	const struct verdict_finding *f;

	change.task = 7;
	change.metrics = METRIC_BIT(METRIC_MEMORY);
	make(&change, 1);
	judge(NULL);
	f = find(7, METRIC_MEMORY);
	if (steps[_i].told < 0) {
		ck_assert_msg(!verdict.n, "%s: %zu told", steps[_i].what, verdict.n);
		return;
	}
	ck_assert_msg(f && verdict.n == 1, "%s: %zu told", steps[_i].what, verdict.n);
	ck_assert_int_eq(f->state, steps[_i].told);
	ck_assert_int_eq(f->worse, steps[_i].worse);
	ck_assert_msg(f->since >= steps[_i].first && f->since <= steps[_i].last, "%u", f->since);
	ck_assert(f->first <= f->since && f->since <= f->last);
	ck_assert_uint_eq(f->builds, BUILDS - f->since);
	ck_assert_double_eq_tol(f->effect, steps[_i].effect, 0.06 * (1 + fabs(steps[_i].effect)));
	ck_assert_double_eq_tol(f->now / f->before - 1, f->effect, 1e-9 * (1 + f->effect));
	ck_assert(f->low < f->effect && f->effect < f->high);
	ck_assert(f->low < steps[_i].effect && steps[_i].effect < f->high);
	ck_assert(f->rate <= rules.rate);
	ck_assert_uint_eq(verdict.n_confirmed, f->worse && f->state == FINDING_CONFIRMED);
	ck_assert_uint_eq(verdict.n_suspect, f->worse && f->state == FINDING_SUSPECT);
	ck_assert_uint_eq(verdict.more_builds, f->state == FINDING_SUSPECT);
}

/* A second change after an earlier one. */
TEST(two_steps)
{
	static const struct made_change changes[] = {
		{ .task = 7, .metrics = METRIC_BIT(METRIC_MEMORY), .build = 20, .by = 0.2 },
		{ .task = 7, .metrics = METRIC_BIT(METRIC_MEMORY), .build = NEWEST - 1, .by = 0.3 },
	};

	make(changes, ARRAY_SIZE(changes));
	judge(NULL);
	ck_assert_uint_eq(verdict.n, 2);
	ck_assert_uint_eq(verdict.n_confirmed, 2);
	ck_assert_uint_ne(verdict.finding[0].since, verdict.finding[1].since);
	for (size_t i = 0; i < 2; i++)
		ck_assert(verdict.finding[i].since == 20 || verdict.finding[i].since == NEWEST - 1);
}

/* Notes. */
static const struct {
	const char *what;
	struct known known;
	size_t told;
	bool is_known;
} said[] = {
	{ "acknowledged", { KNOWN_ACKNOWLEDGED, 30, "recipe0: do_task7", ~0u, "why", "who", .time_s = 0 }, 1, true },
	{ "by a pattern", { KNOWN_ACKNOWLEDGED, 48, "recipe0: *", ~0u, "why", "who", .time_s = 0 }, 1, true },
	{ "before it began", { KNOWN_ACKNOWLEDGED, 20, "recipe0: do_task7", ~0u, "why", "who", .time_s = 0 }, 1,
	  false },
	{ "another task", { KNOWN_ACKNOWLEDGED, 30, "recipe0: do_task8", ~0u, "why", "who", .time_s = 0 }, 1, false },
	{ "the build, not the task", { KNOWN_ACKNOWLEDGED, 30, "", ~0u, "why", "who", .time_s = 0 }, 1, false },
	{ "another metric", { KNOWN_ACKNOWLEDGED, 30, "*", METRIC_BIT(METRIC_CPU), "why", "who", .time_s = 0 }, 1,
	  false },
	{ "accepted", { KNOWN_ACCEPTED, 30, "recipe0: do_task7", ~0u, "why", "who", .time_s = 0 }, 0, false },
	{ "accepted too early", { KNOWN_ACCEPTED, 15, "recipe0: do_task7", ~0u, "why", "who", .time_s = 0 }, 1,
	  false },
	{ "accepted in the newest build", { KNOWN_ACCEPTED, NEWEST, "recipe0: do_task7", ~0u, "", "", .time_s = 0 },
	  0, false },
};

TEST_EACH(known, said)
{
	static const struct made_change change = { .task = 7, .metrics = METRIC_BIT(METRIC_MEMORY),
						   .build = 30, .by = 0.3 };
	struct known one = said[_i].known;
	struct known_list list = { 1, &one };

	make(&change, 1);
	judge(&list);
	ck_assert_msg(verdict.n == said[_i].told, "%s: %zu", said[_i].what, verdict.n);
	ck_assert_uint_eq(verdict.n_known, said[_i].is_known);
	ck_assert_uint_eq(verdict.n_confirmed, said[_i].told - said[_i].is_known);
	if (said[_i].told)
		ck_assert_ptr_eq(verdict.finding[0].known, said[_i].is_known ? &one : NULL);
}

/* Limits, by rules. */
static const struct { const char *what; struct rule rule; size_t told; } gates[] = {
	{ "none", { "nothing like it", ~0u, NAN, NAN, NAN, true }, 1 },
	{ "ignored", { "recipe0: *", ~0u, NAN, NAN, NAN, true }, 0 },
	{ "another metric ignored", { "recipe0: *", METRIC_BIT(METRIC_IO), NAN, NAN, NAN, true }, 1 },
	{ "share", { "*", ~0u, 0.4, NAN, NAN, -1 }, 0 },
	{ "share enough", { "*", ~0u, 0.2, NAN, NAN, -1 }, 1 },
	{ "amount", { "*", ~0u, NAN, 1e12, NAN, -1 }, 0 },
	{ "floor", { "*", ~0u, NAN, NAN, 1e12, -1 }, 0 },
};

TEST_EACH(gate, gates)
{
	static const struct made_change change = { .task = 7, .metrics = METRIC_BIT(METRIC_MEMORY),
						   .build = NEWEST - 1, .by = 0.3 };

	make(&change, 1);
	rules.rule = &gates[_i].rule;
	rules.n = 1;
	judge(NULL);
	ck_assert_msg(verdict.n == gates[_i].told, "%s: %zu", gates[_i].what, verdict.n);
}

/* A change of all tasks is no change of one. The check fails once it lasts. */
TEST_RANGE(slow_host, 1, 4)
{
	const struct made_change changes[] = {
		{ .task = MADE_ALL, .metrics = METRIC_BIT(METRIC_WALL) | METRIC_BIT(METRIC_CPU),
		  .build = NEWEST + 1 - (size_t)_i, .by = 0.2 },
		{ .task = 9, .metrics = METRIC_BIT(METRIC_CPU), .build = NEWEST - 1, .by = 0.4 },
	};

	make(changes, ARRAY_SIZE(changes));
	judge(NULL);
	ck_assert(verdict.host_event[METRIC_WALL] && verdict.host_event[METRIC_CPU]);
	ck_assert(!verdict.host_event[METRIC_MEMORY] && isnan(verdict.host[METRIC_MEMORY]));
	ck_assert_double_eq_tol(verdict.host[METRIC_WALL], 1.2, 0.08);
	for (size_t i = 0; i < verdict.n; i++)
		ck_assert(verdict.finding[i].task == 9 || verdict.finding[i].task >= HISTORY_ALL);
	ck_assert_ptr_nonnull(find(9, METRIC_CPU));
	ck_assert_double_eq_tol(find(9, METRIC_CPU)->effect, 0.4, 0.1);
	ck_assert_int_eq(find(TASK_HOST, METRIC_WALL) != NULL, _i > 1);
	if (_i > 1) {
		ck_assert(find(TASK_HOST, METRIC_WALL)->fails);
		ck_assert_uint_ge(find(TASK_HOST, METRIC_WALL)->tasks, TASKS * 9 / 10);
	}
	rules.shared = SHARED_REPORT;
	verdict_release(&verdict);
	judge(NULL);
	if (_i > 1)
		ck_assert(!find(TASK_HOST, METRIC_WALL)->fails);
}

/* The build as a whole is a series too. */
TEST(whole_build)
{
	static const struct made_change change = { .task = MADE_ALL, .build = NEWEST - 1,
						   .metrics = METRIC_BIT(METRIC_IO) |
							      METRIC_BIT(METRIC_READ) |
							      METRIC_BIT(METRIC_WRITTEN), .by = 0.3 };
	struct known one = { KNOWN_ACKNOWLEDGED, NEWEST, "", ~0u, "why", "who", .time_s = 0 };
	struct known_list list = { 1, &one };

	make(&change, 1);
	judge(&list);
	ck_assert_uint_gt(verdict.n_confirmed, TASKS * 3 / 4);
	ck_assert_ptr_nonnull(find(TASK_TOTAL, METRIC_IO));
	ck_assert_int_eq(find(TASK_TOTAL, METRIC_IO)->state, FINDING_KNOWN);
	ck_assert_uint_eq(verdict.n_known, 1);
	for (size_t i = 1; i < verdict.n; i++)
		ck_assert_int_le(verdict.finding[i - 1].state, verdict.finding[i].state);
}

TEST_LOOP(other_machine, 2)
{
	static const struct made_change change = { .task = 7, .metrics = METRIC_BIT(METRIC_MEMORY),
						   .build = 30, .by = 0.3 };

	make(&change, 1);
	for (size_t i = 30; i < BUILDS; i++)
		builds.build[i].circumstances = (uint64_t)_i;
	judge(NULL);
	ck_assert_uint_eq(verdict.n, 1);
	ck_assert_int_eq(verdict.finding[0].machine, _i != 0);
}

TEST(exact_totals)
{
	make(NULL, 0);
	judge(NULL);
	ck_assert_uint_eq(verdict.n_exact, 0);
	verdict_release(&verdict);
	builds.build[NEWEST].total[TOTAL_TASKS] += 3;
	builds.build[NEWEST].total[TOTAL_FAILED] = 1;
	builds.build[NEWEST].total[TOTAL_STATUS] = -1;
	judge(NULL);
	ck_assert_uint_eq(verdict.n_exact, 2);
	ck_assert_int_eq(verdict.exact[0].total, TOTAL_TASKS);
	ck_assert_int_eq(verdict.exact[0].now - verdict.exact[0].before, 3);
	ck_assert_int_eq(verdict.exact[1].total, TOTAL_FAILED);
	ck_assert_uint_eq(verdict.n_confirmed, 0);
}

/* Too few builds for a verdict. */
static const struct { size_t tasks, builds; int64_t agree; bool enough; } little[] = {
	{ 20, 0, 2, false }, { 20, 1, 2, false }, { 20, 2, 2, false }, { 20, 6, 2, false },
	{ 20, 7, 2, true }, { 0, 20, 2, true }, { 1, 20, 2, true }, { 20, 8, 9, false },
	{ 20, 14, 10, false }, { 20, 15, 10, true },
};

TEST_EACH(little_history, little)
{
	struct made made = { .seed = 1, .tasks = little[_i].tasks, .builds = little[_i].builds,
			     .noise = 0.03 };

	ck_assert(!made_series(&builds, &made));
	rules.agree = little[_i].agree;
	judge(NULL);
	ck_assert_int_eq(verdict.enough, little[_i].enough);
	ck_assert_uint_eq(verdict.n, 0);
	ck_assert_uint_eq(verdict.n_builds, little[_i].builds);
	ck_assert_int_eq(verdict.more_builds > 0, !little[_i].enough);
}

/* A small project with few builds and an obvious change. */
TEST(small_project)
{
	static const struct made_change change = { .task = 1, .build = 10, .by = 1,
						   .metrics = METRIC_BIT(METRIC_MEMORY) };
	struct made made = { .seed = 1, .tasks = 3, .builds = 12, .noise = 0.02, .change = &change,
			     .n_changes = 1 };

	ck_assert(!made_series(&builds, &made));
	judge(NULL);
	ck_assert_ptr_nonnull(find(1, METRIC_MEMORY));
	ck_assert_int_eq(find(1, METRIC_MEMORY)->state, FINDING_CONFIRMED);
}

/* The window ends what is compared with, but not what was confirmed. */
TEST(window)
{
	static const struct made_change change = { .task = 7, .metrics = METRIC_BIT(METRIC_MEMORY),
						   .build = 15, .by = 0.5 };

	make(&change, 1);
	rules.window = 50;
	judge(NULL);
	ck_assert_uint_eq(verdict.n_confirmed, 1);
	verdict_release(&verdict);
	rules.window = 30;
	judge(NULL);
	ck_assert_uint_eq(verdict.first_build, 20);
	ck_assert_uint_eq(verdict.n_builds, 30);
	ck_assert_uint_eq(verdict.n_confirmed, 1);
}

/* Impossible values. */
static const float odd[] = { 0, -1, -1e30f, NAN, INFINITY, -INFINITY, 3e38f, 1e-40f };

TEST_EACH(odd_values, odd)
{
	make(NULL, 0);
	for (enum metric m = 0; m < METRICS; m++) {
		float *v = made_series_values(&builds, m);

		for (size_t i = 0; i < BUILDS; i++) {
			v[1 * BUILDS + i] = odd[_i];
			v[2 * BUILDS + i] = i == 20 ? odd[_i] : v[2 * BUILDS + i];
			v[3 * BUILDS + i] = i == NEWEST ? odd[_i] : v[3 * BUILDS + i];
			v[4 * BUILDS + i] = i % 2 ? odd[_i] : v[4 * BUILDS + i];
			v[5 * BUILDS + i] = i < 40 ? odd[_i] : v[5 * BUILDS + i];
		}
	}
	judge(NULL);
	for (size_t i = 0; i < verdict.n; i++) {
		const struct verdict_finding *f = &verdict.finding[i];

		ck_assert_msg(f->task >= 1 && f->task <= 5, "%u", f->task);
		ck_assert(isfinite(f->before) && isfinite(f->now) && !isnan(f->effect));
	}
}

/* From 0 to a value, which has no share. */
TEST(from_zero)
{
	make(NULL, 0);
	for (size_t i = 0; i < BUILDS; i++)
		made_series_values(&builds, METRIC_IO)[7 * BUILDS + i] = i < NEWEST - 1 ? 0 : 4e6f;
	judge(NULL);
	ck_assert_uint_eq(verdict.n_confirmed, 1);
	ck_assert(verdict.finding[0].before == 0 && isinf(verdict.finding[0].effect));
}

/* What was confirmed stays when the newest build lacks the task, but not when the task is gone. */
TEST(missing)
{
	static const struct made_change changes[] = {
		{ .task = 7, .metrics = METRIC_BIT(METRIC_MEMORY), .build = 30, .by = 0.3 },
		{ .task = 8, .metrics = METRIC_BIT(METRIC_MEMORY), .build = 46, .by = 0.3 },
		{ .task = 9, .metrics = METRIC_BIT(METRIC_MEMORY), .build = 30, .by = 0.3 },
	};
	float *v;

	make(changes, ARRAY_SIZE(changes));
	v = made_series_values(&builds, METRIC_MEMORY);
	v[7 * BUILDS + NEWEST] = NAN;
	v[8 * BUILDS + NEWEST - 1] = v[8 * BUILDS + 45] = v[8 * BUILDS + 44] = NAN;
	v[9 * BUILDS + NEWEST] = v[9 * BUILDS + NEWEST - 1] = NAN;
	judge(NULL);
	ck_assert_uint_eq(verdict.n, 2);
	ck_assert_ptr_nonnull(find(7, METRIC_MEMORY));
	ck_assert_ptr_nonnull(find(8, METRIC_MEMORY));
	ck_assert_uint_eq(find(8, METRIC_MEMORY)->since, 46);
	ck_assert_uint_eq(find(8, METRIC_MEMORY)->first, 44);
	ck_assert_uint_eq(find(8, METRIC_MEMORY)->builds, 3);
}

/* A task with frequent outliers is not reported for two in a row. */
TEST(often_off)
{
	float *v;

	make(NULL, 0);
	v = made_series_values(&builds, METRIC_MEMORY);
	for (size_t k = 0; k < 20; k++) {
		for (size_t i = 0; i < BUILDS; i++)
			v[k * BUILDS + i] *= (i + k) % 7 < 2 ? 1.5f : 1;
	}
	judge(NULL);
	ck_assert_uint_eq(verdict.n_confirmed, 0);
}

/* Only noise: with a rate of a hundredth, a finding in a hundred builds. */
static const struct made noise[] = {
	{ .noise = 0.03 }, { .noise = 0.04, .uneven = 0.5, .spikes = 0.02 },
	{ .noise = 0.03, .alike = 0.3 }, { .noise = 0.03, .student = 3 },
	{ .noise = 0.04, .uneven = 0.5, .passing = 0.3, .missing = 0.1, .spikes = 0.01 },
};

TEST_EACH(noise_alone, noise)
{
	size_t told = 0;

	for (uint64_t seed = 1; seed <= 6; seed++) {
		struct made made = noise[_i];

		made.seed = seed;
		made.tasks = 400;
		made.builds = BUILDS;
		made.host = 0.02;
		ck_assert(!made_series(&builds, &made));
		judge(NULL);
		for (size_t i = 0; i < verdict.n; i++)	/* the build's totals do change */
			told += verdict.finding[i].task != TASK_TOTAL &&
				verdict.finding[i].state == FINDING_CONFIRMED;
		teardown();
	}
	ck_assert_msg(told <= 1, "%zu", told);
}

/* Steps of a fifth in noise: nearly all are found, with few false ones. */
TEST_EACH(planted, noise)
{
	struct made_change change[TASKS / 10];
	size_t right = 0, wrong = 0;
	struct made made = noise[_i];

	for (size_t i = 0; i < ARRAY_SIZE(change); i++)
		change[i] = (struct made_change){ .task = 10 * i, .build = NEWEST - 2, .by = 0.25 };
	made.seed = 9;
	made.tasks = TASKS;
	made.builds = BUILDS;
	made.host = 0.02;
	made.missing = made.passing = 0;
	made.change = change;
	made.n_changes = ARRAY_SIZE(change);
	ck_assert(!made_series(&builds, &made));
	judge(NULL);
	for (size_t i = 0; i < verdict.n; i++) {
		const struct verdict_finding *f = &verdict.finding[i];

		if (f->task >= HISTORY_ALL || f->state != FINDING_CONFIRMED)
			continue;
		right += f->task % 10 == 0;
		wrong += f->task % 10 != 0;
	}
	ck_assert_msg(right >= 4 * ARRAY_SIZE(change) / 2, "%zu right", right);
	ck_assert_msg(wrong <= 2, "%zu wrong", wrong);
}

/* The result does not depend on the number of threads. */
TEST(same_again)
{
	struct verdict_finding first[1000];
	struct made_change change[50];
	size_t n;
	cpu_set_t set;

	for (size_t i = 0; i < ARRAY_SIZE(change); i++)
		change[i] = (struct made_change){ .task = 3 * i, .build = 20 + i % 30, .by = 0.2 };
	make(change, ARRAY_SIZE(change));
	judge(NULL);
	n = verdict.n;
	ck_assert(n > 100 && n < ARRAY_SIZE(first));
	memcpy(first, verdict.finding, n * sizeof *first);
	verdict_release(&verdict);
	ck_assert(!sched_getaffinity(0, sizeof set, &set));
	for (int i = 0, found = 0; i < CPU_SETSIZE; i++) {
		if (CPU_ISSET(i, &set) && found++)
			CPU_CLR(i, &set);
	}
	ck_assert(!sched_setaffinity(0, sizeof set, &set));
	judge(NULL);
	ck_assert_uint_eq(verdict.n, n);
	for (size_t i = 0; i < n; i++) {
		const struct verdict_finding *a = &first[i], *b = &verdict.finding[i];

		ck_assert(a->task == b->task && a->metric == b->metric && a->state == b->state);
		ck_assert(a->since == b->since && a->effect == b->effect && a->rate == b->rate);
	}
}

static int broken(const struct builds *n, uint32_t build, enum metric m, float *values, struct error *err)
{
	(void)n;
	(void)build;
	(void)m;
	(void)values;
	return error_set(err, -EIO, "archive", 0, 0, "broken");
}

TEST(cannot_load)
{
	struct error err = { 0 };

	make(NULL, 0);
	builds.row = broken;
	ck_assert_int_eq(verdict_make(&verdict, &builds, &rules, NULL, &err), -EIO);
	ck_assert_str_eq(err.message, "broken");
}

TEST_MAIN(verdict);
