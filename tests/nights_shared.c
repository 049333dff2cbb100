/* SPDX-License-Identifier: MIT */
#include "tests/nights.h"

#include "base/array.h"
#include "compare/verdict.h"
#include "tests/made_series.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define TASKS 300
#define MANY 120
#define QUICK 68
#define SPREAD 61		/* has no common divisor with the number of tasks */
#define BY 0.12

struct shared {
	struct night_sums *sums;
	struct builds builds;
	uint32_t history;
	double truth[TASKS];	/* 0: unchanged */
	bool each;		/* every build is looked at, not the last one alone */
};

static _Noreturn void fail(const char *why)
{
	fprintf(stderr, "%s\n", why);
	exit(EXIT_FAILURE);
}

/* The CPU time of a task over all builds: of many tasks, its part of what was planted. */
static double weight_of(const struct shared *s, uint32_t task)
{
	const float *v = made_series_values((struct builds *)&s->builds, METRIC_CPU) + task * s->builds.n;
	double sum = 0;

	for (size_t b = 0; b < s->builds.n; b++)
		sum += isnan(v[b]) ? 0 : (double)v[b];
	return sum;
}

/* Counts an effect. That of several tasks holds the change of their sum. */
static void count_effect(struct shared *s, const struct verdict_finding *f, const uint32_t *task, size_t n)
{
	double before = 0, now = 0;

	for (size_t i = 0; i < n; i++) {
		before += weight_of(s, task[i]);
		now += weight_of(s, task[i]) * (1 + s->truth[task[i]]);
	}
	s->sums->effects++;
	s->sums->held += n && f->low <= now / before - 1 && now / before - 1 <= f->high;
}

static void look_at(struct shared *s, const struct verdict *v, bool *about, bool last)
{
	for (size_t i = 0; i < v->n; i++) {
		const struct verdict_finding *f = &v->finding[i];
		const uint32_t *task = f->task < TASKS ? &f->task : v->moved + f->first_moved;
		size_t n = f->task < TASKS ? 1 : f->n_moved, right = 0;

		if (f->state == FINDING_SUSPECT || f->since + 1 < s->history)
			continue;
		for (size_t k = 0; k < n; k++) {
			right += s->truth[task[k]] > 0;
			if (f->worse && f->metric == METRIC_CPU)
				about[task[k]] = true;
		}
		if (!last)
			continue;
		s->sums->findings++;
		s->sums->wrong += !f->worse || right * 4 < n * 3;
		if (f->worse && right)
			count_effect(s, f, task, n);
	}
}

static int seen(void *context, uint32_t build, const struct verdict *v, struct error *err)
{
	struct shared *s = context;
	bool about[TASKS] = { false }, any = false;
	uint32_t at = build - s->history;
	double all = 0, part = 0;

	(void)err;
	look_at(s, v, about, at == NIGHTS_LATER - 1);
	for (uint32_t task = 0; s->each && task < TASKS; task++) {
		if (!(s->truth[task] > 0))
			continue;
		all += weight_of(s, task);
		part += about[task] ? weight_of(s, task) : 0;
		any = any || about[task];
	}
	s->sums->told[at] += any;
	s->sums->part[at] += all > 0 ? part / all : 0;
	return 0;
}

static void judge(struct shared *s, const struct made *made, const struct rules *rules)
{
	struct error err = { 0 };

	if (made_series(&s->builds, made))
		fail("no memory");
	for (size_t i = 0; i < made->builds; i++)
		s->builds.build[i].total[TOTAL_WALL_US] = s->builds.build[i].total[TOTAL_USER_US] = -1;
	if (verdict_each(&s->builds, rules, NULL, s->each ? s->history : s->history + NIGHTS_LATER - 1,
			 &(struct verdict_seen){ seen, s }, &err))
		fail(err.message);
	s->sums->histories++;
	builds_release(&s->builds);
}

static bool is_changed(enum night_shared way, uint32_t task)
{
	uint32_t at = way == SHARED_PLACES || way == SHARED_QUICK ? task : task * SPREAD % TASKS;

	return at < (way == SHARED_PLACES || way == SHARED_SCATTERED ? MANY : QUICK);
}

void nights_shared(struct night_sums *f, const char *noise, enum night_shared way, uint32_t history,
		   uint64_t seed, size_t histories)
{
	struct made_change change[MANY];
	bool quick[TASKS] = { false };
	struct rules rules;

	rules_init(&rules);
	rules.metrics = METRIC_BIT(METRIC_WALL) | METRIC_BIT(METRIC_CPU);
	for (size_t i = 0; i < histories; i++) {
		struct shared s = { .sums = f, .history = history, .each = true };
		struct made made = *nights_made(noise);

		made.change = change;
		for (uint32_t task = 0; task < TASKS; task++) {
			if (!is_changed(way, task))
				continue;
			s.truth[task] = BY;
			quick[task] = way >= SHARED_QUICK;
			change[made.n_changes++] = (struct made_change){ .task = task, .build = history, .by = BY };
		}
		made.quick = quick;
		made.seed = seed + i;
		made.tasks = TASKS;
		made.builds = history + NIGHTS_LATER;
		made.metrics = rules.metrics;
		judge(&s, &made, &rules);
	}
}

void nights_held(struct night_sums *f, const struct night_steps *steps, uint64_t seed, size_t histories)
{
	struct rules rules;

	made_series_rules(&rules);
	for (size_t i = 0; i < histories; i++) {
		struct shared s = { .sums = f, .history = steps->history };
		struct made_change change[NIGHTS_CHANGED + 1];
		struct made made = *nights_made(steps->noise);

		nights_plant(&made, change, steps);
		for (size_t k = 0; k < NIGHTS_CHANGED; k++)
			s.truth[change[k + 1].task] = steps->by;
		made.seed = seed + i;
		made.tasks = TASKS;
		made.builds = steps->history + NIGHTS_LATER;
		made.metrics = rules.metrics;
		judge(&s, &made, &rules);
	}
}
