/* SPDX-License-Identifier: MIT */
#include "compare/everywhere.h"
#include "stats/fisher.h"
#include "tests/support.h"

/* The verdicts of several series as one. */

#define SERIES 4
#define BUILDS 10

static struct revision revision[SERIES][BUILDS];
static char commit[SERIES][BUILDS][16];
static struct build build[SERIES][BUILDS];
static struct builds_task task[SERIES][2];
static struct builds builds[SERIES];
static struct verdict verdict[SERIES];
static struct verdict_finding finding[SERIES][4];
static struct everywhere_series series[SERIES];
static struct rules rules;

/* Build i is commit number 100 + 10 i. The tasks of each other series are in another order. */
static void make(void)
{
	static const char *const ref[] = { "farm1/main/x", "farm2/main/x", "farm2/main/y", "farm3/rel/x" };

	rules_init(&rules);
	for (int s = 0; s < SERIES; s++) {
		for (int i = 0; i < BUILDS; i++) {
			snprintf(commit[s][i], sizeof commit[s][i], "c%d", i);
			revision[s][i] = (struct revision){ .source = "/src", .commit = commit[s][i],
							    .count = 100 + 10 * i };
			build[s][i] = (struct build){ .revision = &revision[s][i], .n_revisions = 1 };
		}
		task[s][s % 2] = (struct builds_task){ .name = "a" };
		task[s][1 - s % 2] = (struct builds_task){ .name = "b" };
		builds[s] = (struct builds){ .ref = ref[s], .n = BUILDS, .build = build[s], .n_tasks = 2,
					     .task = task[s] };
		verdict[s] = (struct verdict){ .finding = finding[s], .enough = true, .more_builds = 1 };
		series[s] = (struct everywhere_series){ &builds[s], &verdict[s] };
	}
}

/* A regression of task "a" with the interval [first, last]. */
static struct verdict_finding *add(int s, enum verdict_state state, double rate, uint32_t first, uint32_t last)
{
	struct verdict_finding *f = &finding[s][verdict[s].n++];

	*f = (struct verdict_finding){
		.task = (uint32_t)(s % 2), .metric = METRIC_WALL, .state = state, .worse = true,
		.fails = state == FINDING_CONFIRMED, .rate = rate, .first = first, .last = last, .since = first,
	};
	return f;
}

#define C FINDING_CONFIRMED
#define K FINDING_KNOWN
#define S FINDING_SUSPECT

/* Two findings; how many remain in each series, how many of both fail, and the state of the first
 * that remains. */
static const struct {
	const char *what;
	struct { int series; enum verdict_state state; double rate; uint32_t first, last; } of[2];
	size_t left[2], fail, elsewhere;
	enum verdict_state state;
	bool joined;
} cases[] = {
	{ "confirmed twice", { { 0, C, .001, 5, 6 }, { 1, C, .002, 6, 7 } }, { 1, 0 }, 1, 1, C, false },
	{ "other commits", { { 0, C, .001, 5, 5 }, { 1, C, .002, 6, 7 } }, { 1, 1 }, 2, 0, C, false },
	{ "another branch", { { 0, C, .001, 5, 6 }, { 3, C, .002, 5, 6 } }, { 1, 1 }, 2, 0, C, false },
	{ "suspected twice", { { 0, S, .01, 9, 9 }, { 1, S, .01, 9, 9 } }, { 1, 0 }, 1, 1, C, true },
	{ "of one host", { { 1, S, .01, 9, 9 }, { 2, S, .01, 9, 9 } }, { 1, 0 }, 0, 0, S, false },
	{ "weak suspects", { { 0, S, .05, 9, 9 }, { 1, S, .05, 9, 9 } }, { 1, 0 }, 0, 0, S, false },
	{ "suspects apart", { { 0, S, .001, 8, 8 }, { 1, S, .001, 9, 9 } }, { 1, 1 }, 0, 0, S, false },
	{ "a suspect of a confirmed one", { { 0, S, .01, 9, 9 }, { 1, C, .002, 9, 9 } }, { 0, 1 }, 1, 1, C, false },
	{ "known in one", { { 0, K, .001, 5, 6 }, { 1, C, .002, 5, 6 } }, { 0, 1 }, 1, 1, C, false },
	{ "known in both", { { 0, K, .001, 5, 6 }, { 1, K, .002, 5, 6 } }, { 1, 0 }, 0, 0, K, false },
};

TEST_EACH(joined, cases)
{
	int a = cases[_i].of[0].series, b = cases[_i].of[1].series;
	const struct verdict_finding *f;
	struct everywhere e;

	make();
	for (int i = 0; i < 2; i++)
		add(cases[_i].of[i].series, cases[_i].of[i].state, cases[_i].of[i].rate, cases[_i].of[i].first,
		    cases[_i].of[i].last);
	ck_assert_int_eq(everywhere_join(&e, series, SERIES, &rules), 0);
	ck_assert_uint_eq(verdict[a].n, cases[_i].left[0]);
	ck_assert_uint_eq(verdict[b].n, cases[_i].left[1]);
	ck_assert_uint_eq(verdict[a].n_confirmed + verdict[b].n_confirmed, cases[_i].fail);
	ck_assert_uint_eq(verdict[a].n_elsewhere + verdict[b].n_elsewhere, cases[_i].elsewhere);
	f = verdict[a].n ? &finding[a][0] : &finding[b][0];
	ck_assert_int_eq(f->state, cases[_i].state);
	ck_assert_int_eq(f->also != NULL, cases[_i].left[0] + cases[_i].left[1] == 1);
	if (f->also) {
		ck_assert_int_eq(f->also->joined, cases[_i].joined);
		ck_assert_uint_eq(f->also->n, 1);
		ck_assert_ptr_eq(f->also->part->builds, verdict[a].n ? &builds[b] : &builds[a]);
	}
	ck_assert_uint_eq(verdict[a].more_builds, verdict[a].n_suspect ? 1 : 0);
	everywhere_release(&e);
}

/* What else must be the same. */
TEST(differ)
{
	struct everywhere e;

	for (int i = 0; i < 6; i++) {
		struct verdict_finding *f;

		make();
		add(0, FINDING_CONFIRMED, 0.001, 5, 6);
		f = add(1, FINDING_CONFIRMED, 0.001, 5, 6);
		if (i == 0)
			f->task = 0;		/* "b" there */
		if (i == 1)
			f->metric = METRIC_CPU;
		if (i == 2)
			f->worse = f->fails = false;
		if (i == 3)
			f->task = TASK_TOTAL;
		if (i == 4)
			build[1][6].n_revisions = 0;	/* unknown */
		if (i == 5)		/* built the same commit again: it is no cause */
			f->first = f->last = 5, revision[1][5] = revision[1][4] = revision[1][6];
		ck_assert_int_eq(everywhere_join(&e, series, 2, &rules), 0);
		ck_assert_msg(verdict[0].n == 1 && verdict[1].n == 1, "%d", i);
		ck_assert_ptr_null(finding[0][0].also);
		everywhere_release(&e);
	}
}

/* The factor of all tasks is that of a machine: two slow machines confirm nothing. */
TEST(machines)
{
	struct everywhere e;

	make();
	for (int s = 0; s < 2; s++)
		add(s, FINDING_SUSPECT, 1e-6, 9, 9)->task = TASK_HOST;
	ck_assert_int_eq(everywhere_join(&e, series, 2, &rules), 0);
	ck_assert_uint_eq(verdict[0].n + verdict[1].n, 1);
	ck_assert_int_eq(finding[0][0].state, FINDING_SUSPECT);
	ck_assert_uint_eq(verdict[0].n_confirmed, 0);
	everywhere_release(&e);
}

/* Three series, of which two have two changes of the task: each belongs to its own commits. */
TEST(several)
{
	struct everywhere e;

	make();
	add(0, FINDING_CONFIRMED, 0.001, 8, 8);
	add(0, FINDING_CONFIRMED, 0.001, 3, 3);
	add(1, FINDING_CONFIRMED, 0.001, 3, 4);
	add(1, FINDING_SUSPECT, 0.001, 8, 9)->metric = METRIC_CPU;
	add(2, FINDING_KNOWN, 0.001, 8, 9);
	add(2, FINDING_CONFIRMED, 0.001, 2, 3);
	ck_assert_int_eq(everywhere_join(&e, series, 3, &rules), 0);
	ck_assert_uint_eq(verdict[0].n, 2);
	ck_assert_uint_eq(verdict[0].n_confirmed, 2);
	ck_assert_uint_eq(finding[0][0].also->n, 1);
	ck_assert_ptr_eq(finding[0][0].also->part[0].builds, &builds[2]);
	ck_assert_uint_eq(finding[0][1].also->n, 2);
	ck_assert_ptr_eq(finding[0][1].also->part[0].builds, &builds[1]);
	ck_assert_ptr_eq(finding[0][1].also->part[1].builds, &builds[2]);
	ck_assert_uint_eq(verdict[1].n, 1);
	ck_assert_uint_eq(verdict[1].n_suspect, 1);
	ck_assert_uint_eq(verdict[1].n_elsewhere, 1);
	ck_assert_uint_eq(verdict[2].n, 0);
	ck_assert_uint_eq(verdict[2].n_elsewhere, 2);
	everywhere_release(&e);
}

/* Chi-squared of 2 n degrees of freedom. */
static const struct { double p[3]; size_t n; double joined; } fisher[] = {
	{ { 0.01 }, 1, 0.01 },
	{ { 0.01, 0.01 }, 2, 0.00102103 },
	{ { 0.05, 0.05 }, 2, 0.0174787 },
	{ { 0.5, 0.5 }, 2, 0.596574 },
	{ { 0.1, 0.2, 0.3 }, 3, 0.115216 },
	{ { 1, 1, 1 }, 3, 1 },
	{ { 0, 0 }, 2, 0 },
	{ { 0 }, 0, 1 },
};

TEST_EACH(fisher_method, fisher)
{
	ck_assert_double_eq_tol(fisher_join(fisher[_i].p, fisher[_i].n), fisher[_i].joined, 1e-6);
}

TEST_MAIN(everywhere);
