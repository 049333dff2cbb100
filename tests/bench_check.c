/* SPDX-License-Identifier: MIT */
/* How many builds check takes to find a change, and what it costs. bench_nights has false alarms. */
#include "base/array.h"
#include "compare/history.h"
#include "compare/verdict.h"
#include "tests/made_series.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TASKS 10000

static double seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void judge(struct verdict *v, const struct builds *builds, const struct rules *rules)
{
	struct error err = { 0 };

	if (verdict_make(v, builds, rules, NULL, &err)) {
		fprintf(stderr, "%s\n", err.message);
		exit(EXIT_FAILURE);
	}
}

/* Builds of 300 tasks, wall and CPU time, with 30 builds of history. */
#define NIGHT_TASKS 300
#define NIGHT_HISTORY 30
#define NIGHT_LATER 5
#define NIGHT_SEEDS 12
#define QUIET_SEEDS 40

static const struct made calm = { .noise = 0.025, .host = 0.02 };

struct night {
	struct builds all;
	struct rules rules;
	struct verdict v;
};

/* The verdict about the first n builds. */
static void judge_night(struct night *night, size_t n)
{
	struct builds first = night->all;

	first.n = n;
	judge(&night->v, &first, &night->rules);
}

static void begin_night(struct night *night, struct made made, uint64_t seed, size_t later)
{
	rules_init(&night->rules);
	night->rules.metrics = METRIC_BIT(METRIC_WALL) | METRIC_BIT(METRIC_CPU);
	night->rules.gate[METRIC_WALL].amount = night->rules.gate[METRIC_CPU].amount = 0;
	made.seed = seed;
	made.tasks = NIGHT_TASKS;
	made.builds = NIGHT_HISTORY + later;
	if (made_series(&night->all, &made))
		exit(EXIT_FAILURE);
	/* The totals follow one long task here. */
	for (size_t i = 0; i < night->all.n; i++)
		night->all.build[i].total[TOTAL_WALL_US] = night->all.build[i].total[TOTAL_USER_US] = -1;
}

/* A step of a share of all tasks: builds from the second on that fail, and unchanged tasks that are
 * called better. */
static void bench_shared(size_t percent, uint64_t seed)
{
	static struct made_change change[NIGHT_TASKS];
	size_t failed = 0, judged = 0, better = 0;

	for (uint64_t i = 0; i < NIGHT_SEEDS; i++) {
		struct made made = calm;
		struct night night;

		made.n_changes = NIGHT_TASKS * percent / 100;
		for (size_t k = 0; k < made.n_changes; k++)
			change[k] = (struct made_change){ .task = k, .build = NIGHT_HISTORY, .by = 0.25 };
		made.change = change;
		begin_night(&night, made, seed + i, NIGHT_LATER);
		for (size_t n = 2; n <= NIGHT_LATER; n++) {
			judge_night(&night, NIGHT_HISTORY + n);
			judged++;
			failed += night.v.n_confirmed > 0;
			for (size_t k = 0; k < night.v.n; k++)
				better += !night.v.finding[k].worse;
			verdict_release(&night.v);
		}
		builds_release(&night.all);
	}
	printf("  %zu %% of the tasks: %.2f (bar: .95), %zu better (bar: 0)\n", percent,
	       (double)failed / judged, better);
}

static void bench_slow_night(uint64_t seed)
{
	size_t failed = 0, judged = 0;

	for (uint64_t i = 0; i < QUIET_SEEDS; i++) {
		struct made_change change = { .task = MADE_ALL, .build = NIGHT_HISTORY,
					      .until = NIGHT_HISTORY + 1, .by = 0.3 };
		struct made made = calm;
		struct night night;

		made.change = &change;
		made.n_changes = 1;
		begin_night(&night, made, seed + i, 3);
		for (size_t n = 1; n <= 3; n++) {
			judge_night(&night, NIGHT_HISTORY + n);
			judged++;
			failed += night.v.n_confirmed > 0;
			verdict_release(&night.v);
		}
		builds_release(&night.all);
	}
	printf("  one slow night of the machine: %zu of %zu fail (bar: 0)\n", failed, judged);
}

#define WINDOW 60
#define TRIED 41		/* tasks with a step */
#define MOST_BUILDS 12

static int ascending(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static bool is_confirmed(const struct verdict *v, uint32_t task)
{
	for (size_t i = 0; i < v->n; i++) {
		if (v->finding[i].task == task && v->finding[i].worse &&
		    v->finding[i].state == FINDING_CONFIRMED)
			return true;
	}
	return false;
}

/* The number of builds after which steps of some tasks among many are confirmed. */
static void bench_delay(double by, double spikes, int bar)
{
	struct made_change change[TRIED];
	struct rules rules;
	int builds_taken[TRIED];

	rules_init(&rules);
	rules.metrics = METRIC_BIT(METRIC_CPU);
	rules.gate[METRIC_CPU].amount = 0;
	for (int i = 0; i < TRIED; i++) {
		change[i] = (struct made_change){ .task = 7 + 23 * i, .build = WINDOW, .by = by };
		builds_taken[i] = MOST_BUILDS;
	}
	for (int after = MOST_BUILDS - 1; after > 0; after--) {
		struct made made = { .seed = 12, .tasks = 1000, .builds = WINDOW + after, .noise = 0.03,
				     .spikes = spikes, .host = 0.02, .change = change,
				     .n_changes = TRIED };
		struct builds builds;
		struct verdict v;

		if (made_series(&builds, &made))
			exit(EXIT_FAILURE);
		judge(&v, &builds, &rules);
		for (int i = 0; i < TRIED; i++)
			builds_taken[i] = is_confirmed(&v, 7 + 23 * i) ? after : builds_taken[i];
		verdict_release(&v);
		builds_release(&builds);
	}
	qsort(builds_taken, TRIED, sizeof *builds_taken, ascending);
	printf("a step of %.0f %% at 3 %% noise, %.0f %% spikes: confirmed after %d builds (median; bar: %d), "
	       "nine in ten after %d\n", 100 * by, 100 * spikes, builds_taken[TRIED / 2], bar,
	       builds_taken[TRIED * 9 / 10]);
}

#define BUILD_BAR 0.5		/* s, with reading */

static void bench_build(void)
{
	struct made made = { .seed = 5, .tasks = TASKS, .builds = WINDOW, .noise = 0.04, .uneven = 0.5,
			     .spikes = 0.01, .host = 0.02 };
	struct builds builds;
	struct rules rules;
	struct verdict v;
	double wall, cpu;

	rules_init(&rules);
	if (made_series(&builds, &made))
		exit(EXIT_FAILURE);
	wall = seconds(CLOCK_MONOTONIC);
	cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
	judge(&v, &builds, &rules);
	wall = seconds(CLOCK_MONOTONIC) - wall;
	cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	printf("%d builds of %d tasks, 4 metrics, judged: %.2f of the bar's CPU time, %.2f of it in wall time "
	       "(%.0f ms, %.0f ms)\n", WINDOW, TASKS, cpu / BUILD_BAR, wall / BUILD_BAR, cpu * 1e3,
	       wall * 1e3);
	verdict_release(&v);
	builds_release(&builds);
}

int main(void)
{
	bench_build();
	bench_delay(0.2, 0, 3);
	bench_delay(0.1, 0, 6);
	bench_delay(0.2, 0.02, 3);
	bench_delay(0.1, 0.02, 6);
	printf("+25 %% of a share of the tasks fails from the second build on:\n");
	for (size_t percent = 10; percent <= 100; percent += percent == 40 ? 20 : 15)
		bench_shared(percent, (uint64_t)time(NULL));
	bench_slow_night((uint64_t)time(NULL));
	return 0;
}
