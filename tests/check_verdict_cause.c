/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "compare/verdict_cause.h"
#include "tests/support.h"

/* Which regressions have one cause. */

#define TASKS 3
#define BUILDS 20

/* The task, metric and build of each change; how many causes they have. */
static const struct { struct { uint32_t task; enum metric metric; uint32_t since; } of[5]; size_t n, causes; } causes[] = {
	{ { { 0, METRIC_WALL, 15 }, { 0, METRIC_CPU, 15 } }, 2, 1 },
	{ { { 0, METRIC_WALL, 15 }, { 1, METRIC_WALL, 15 } }, 2, 2 },
	{ { { 0, METRIC_WALL, 15 }, { 0, METRIC_CPU, 17 } }, 2, 2 },
	{ { { TASK_TOTAL, METRIC_WALL, 15 } }, 1, 1 },
	{ { { TASK_TOTAL, METRIC_WALL, 15 }, { TASK_TOTAL, METRIC_CPU, 15 } }, 2, 1 },
	{ { { TASK_TOTAL, METRIC_WALL, 15 }, { 0, METRIC_CPU, 15 } }, 2, 1 },
	{ { { TASK_TOTAL, METRIC_WALL, 15 }, { 0, METRIC_CPU, 16 } }, 2, 2 },
	{ { { TASK_TOTAL, METRIC_IO, 15 }, { 0, METRIC_CPU, 15 } }, 2, 2 },
	{ { { TASK_TOTAL, METRIC_IO, 15 }, { 0, METRIC_IO, 15 } }, 2, 1 },
	/* the build does not make two causes one */
	{ { { TASK_TOTAL, METRIC_WALL, 15 }, { 0, METRIC_WALL, 15 }, { 1, METRIC_WALL, 15 } }, 3, 2 },
	{ { { TASK_HOST, METRIC_WALL, 15 }, { TASK_HOST, METRIC_CPU, 15 }, { TASK_TOTAL, METRIC_WALL, 15 },
	    { TASK_TOTAL, METRIC_CPU, 15 } }, 4, 1 },
	{ { { TASK_HOST, METRIC_WALL, 15 }, { TASK_HOST, METRIC_CPU, 18 } }, 2, 2 },
	{ { { TASK_HOST, METRIC_WALL, 15 }, { 0, METRIC_WALL, 15 } }, 2, 2 },
	/* of a directory, a task of it and another one */
	{ { { TASK_SHARED, METRIC_WALL, 15 }, { 0, METRIC_WALL, 15 } }, 2, 1 },
	{ { { TASK_SHARED, METRIC_WALL, 15 }, { 2, METRIC_WALL, 15 } }, 2, 2 },
	{ { { TASK_SHARED, METRIC_WALL, 15 }, { 0, METRIC_WALL, 17 } }, 2, 2 },
	{ { { TASK_SHARED, METRIC_WALL, 15 }, { TASK_SHARED, METRIC_CPU, 15 } }, 2, 1 },
};

/* Each finding is a group, so the groups are in the order of findings. */
TEST_EACH(causes, causes)
{
	static struct build build[BUILDS];
	static struct builds_task task[TASKS] = { { .name = "s/a", .kind = "" }, { .name = "s/b", .kind = "" },
						  { .name = "c", .kind = "" } };
	static uint32_t moved[] = { 0, 1 };
	struct builds builds = { .ref = "h/b/m", .n = BUILDS, .build = build, .n_tasks = TASKS, .task = task };
	struct verdict_finding f[5] = { { 0 } };
	struct verdict v = { .n = causes[_i].n, .finding = f, .moved = moved };
	RELEASED(verdict_groups, groups = { 0 });
	size_t first = 0;

	for (size_t i = 0; i < v.n; i++)
		f[i] = (struct verdict_finding){
			.task = causes[_i].of[i].task, .metric = causes[_i].of[i].metric, .worse = true, .fails = true,
			.since = causes[_i].of[i].since, .first = causes[_i].of[i].since,
			.last = causes[_i].of[i].since, .before = 10, .now = 12, .effect = 0.2,
			.group = { SHARED_OF_PLACE, 1, 2 },
			.n_moved = causes[_i].of[i].task == TASK_SHARED ? ARRAY_SIZE(moved) : 0,
		};
	ck_assert_int_eq(verdict_groups_make(&groups, &v, &builds), 0);
	ck_assert_uint_eq(groups.n_causes, causes[_i].causes);
	ck_assert_uint_eq(groups.n, v.n);
	for (size_t i = 0; i < groups.n; i++) {
		ck_assert_uint_le(groups.cause[i], i);
		ck_assert_uint_eq(groups.cause[groups.cause[i]], groups.cause[i]);
		first += groups.cause[i] == i;
	}
	ck_assert_uint_eq(first, causes[_i].causes);

	/* what is known does not fail */
	for (size_t i = 0; i < v.n; i++)
		f[i].fails = false;
	ck_assert_int_eq(verdict_cause_find(&groups, &v, &builds), 0);
	verdict_groups_release(&groups);
	ck_assert_int_eq(verdict_groups_make(&groups, &v, &builds), 0);
	ck_assert_uint_eq(groups.n_causes, 0);
}

/* A change of a task and whether the one of its group, +20 % (+15 to +25 %) since build 15, shows it. */
static const struct { uint32_t task; enum metric metric; uint32_t first, last; double low, high; bool worse, shown; } alike[] = {
	{ 0, METRIC_WALL, 15, 15, 0.1, 0.16, true, true }, { 1, METRIC_WALL, 13, 15, 0.24, 0.3, true, true },
	{ 0, METRIC_WALL, 15, 16, 0, 0.5, true, true }, { 0, METRIC_WALL, 16, 16, 0.1, 0.3, true, false },
	{ 0, METRIC_WALL, 14, 14, 0.1, 0.3, true, false }, { 0, METRIC_WALL, 15, 15, 0.26, 0.3, true, false },
	{ 0, METRIC_WALL, 15, 15, 0.1, 0.14, true, false }, { 0, METRIC_CPU, 15, 15, 0.1, 0.3, true, false },
	{ 2, METRIC_WALL, 15, 15, 0.1, 0.3, true, false }, { 0, METRIC_WALL, 15, 15, 0.1, 0.3, false, false },
	{ TASK_TOTAL, METRIC_WALL, 15, 15, 0.1, 0.3, true, false },
};

/* It is reported in the line of the group, and accepted with it. */
TEST_EACH(alike, alike)
{
	static struct build build[BUILDS];
	static struct builds_task task[TASKS] = { { .name = "s/a", .kind = "" }, { .name = "s/b", .kind = "" },
						  { .name = "c", .kind = "" } };
	static uint32_t moved[] = { 1 };
	struct builds builds = { .ref = "h/b/m", .n = BUILDS, .build = build, .n_tasks = TASKS, .task = task };
	struct verdict_finding f[2] = {
		{ .task = alike[_i].task, .metric = alike[_i].metric, .worse = alike[_i].worse, .fails = true,
		  .since = alike[_i].last, .first = alike[_i].first, .last = alike[_i].last, .low = alike[_i].low, .high = alike[_i].high,
		  .before = 10, .now = 12 },
		{ .task = TASK_SHARED, .metric = METRIC_WALL, .worse = true, .fails = true, .since = 15,
		  .first = 15, .last = 15,
		  .low = 0.15, .high = 0.25, .before = 10, .now = 12, .group = { SHARED_OF_PLACE, 1, 2 }, .n_moved = 1 },
	};
	struct verdict v = { .n = 2, .finding = f, .moved = moved };
	RELEASED(verdict_groups, groups = { 0 });
	RELEASED(buf, list = BUF_INIT);
	bool added[TASKS] = { false };
	uint32_t of, shared;

	ck_assert_int_eq(verdict_groups_make(&groups, &v, &builds), 0);
	of = groups.of[0];
	shared = groups.of[1];
	ck_assert_uint_eq(groups.like[of], alike[_i].shown ? shared : of);
	ck_assert_uint_eq(groups.like[shared], shared);
	verdict_add_changed(&list, added, &v, &builds, &f[1]);
	ck_assert_str_eq(buf_str(&list), alike[_i].shown && alike[_i].task == 0 ? "s/b\ns/a\n" : "s/b\n");
	verdict_add_changed(&list, added, &v, &builds, &f[1]);
	ck_assert_str_eq(buf_str(&list), alike[_i].shown && alike[_i].task == 0 ? "s/b\ns/a\n" : "s/b\n");
}

TEST_MAIN(verdict_cause);
