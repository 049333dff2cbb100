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

TEST_MAIN(verdict_cause);
