/* SPDX-License-Identifier: MIT */
/*
 * False alarms of check, the share of planted changes it finds, how many builds that takes,
 * and the cost of one more build.
 */
#include "base/array.h"
#include "compare/history.h"
#include "compare/verdict.h"
#include "tests/made_series.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define TASKS 10000
#define HISTORY 30
#define CHANGED 200		/* every fiftieth task */
#define ROUNDS 3
#define FDR_BAR 0.10

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

struct noise_case {
	const char *what;
	struct made made;
};

static const struct noise_case noises[] = {
	{ "uneven noise of 4 %, 1 % spikes", { .noise = 0.04, .uneven = 0.5, .spikes = 0.01 } },
	{ "the same, without spikes", { .noise = 0.04, .uneven = 0.5 } },
	{ "the same, 2 % spikes", { .noise = 0.04, .uneven = 0.5, .spikes = 0.02 } },
	{ "Student's t3 of 3 %", { .noise = 0.03, .uneven = 0.5, .heavy = true } },
	{ "AR(1) 0.3 of 4 %", { .noise = 0.04, .uneven = 0.5, .alike = 0.3, .spikes = 0.01 } },
};

struct score {
	size_t told, wrong, better;	/* worse; of them false; better */
};

/* Tasks whose number is a multiple of 50 are slower. */
static void add_score(struct score *score, const struct verdict *v, enum verdict_state state)
{
	for (size_t i = 0; i < v->n; i++) {
		const struct verdict_finding *f = &v->finding[i];

		if (f->state != state || f->task >= TASK_HOST)
			continue;
		score->told += f->worse;
		score->wrong += f->worse && f->task % (TASKS / CHANGED);
		score->better += !f->worse;
	}
}

static struct score simulate(struct made made, double by, double rate, size_t agree)
{
	struct made_change change[CHANGED];
	struct score score = { 0 };
	struct rules rules;

	rules_init(&rules);
	rules.metrics = METRIC_BIT(METRIC_WALL);
	rules.rate = rate;
	rules.agree = (int64_t)agree;
	rules.gate[METRIC_WALL].amount = 0;
	for (size_t i = 0; i < CHANGED; i++)
		change[i] = (struct made_change){ .task = i * (TASKS / CHANGED), .build = HISTORY,
						  .by = by };
	made.tasks = TASKS;
	made.builds = HISTORY + agree;
	made.host = 0.02;
	made.change = change;
	made.n_changes = by > 0 ? CHANGED : 0;
	for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
		struct builds builds;
		struct verdict v;

		made.seed = seed;
		if (made_series(&builds, &made))
			exit(EXIT_FAILURE);
		judge(&v, &builds, &rules);
		add_score(&score, &v, FINDING_CONFIRMED);
		verdict_release(&v);
		builds_release(&builds);
	}
	return score;
}

static void bench_rates(const struct noise_case *c, double by, double rate)
{
	for (size_t agree = 1; agree <= 3; agree++) {
		struct score s = simulate(c->made, by, rate, agree);
		double wrong = s.told ? (double)s.wrong / s.told : 0;

		printf("%d tasks, %d of them %.0f %% slower, %s, q %.2f, %zu agreeing: ", TASKS,
		       CHANGED, 100 * by, c->what, rate, agree);
		printf("power %.2f, %.1f false a build (%.1f for the better), false share %.3f",
		       (double)(s.told - s.wrong) / (ROUNDS * CHANGED), (double)s.wrong / ROUNDS,
		       (double)s.better / ROUNDS, wrong);
		if (rate == 0.05 && agree == 2)
			printf(" (bar: %.2f)", FDR_BAR);
		putchar('\n');
	}
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
	for (size_t i = 0; i < ARRAY_SIZE(noises); i++) {
		bench_rates(&noises[i], 0.1, 0.05);
		bench_rates(&noises[i], 0.2, 0.05);
	}
	bench_rates(&noises[0], 0.1, 0.01);
	bench_rates(&noises[0], 0.2, 0.01);
	return 0;
}
