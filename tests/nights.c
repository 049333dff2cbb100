/* SPDX-License-Identifier: MIT */
#include "tests/nights.h"

#include "base/array.h"
#include "compare/replay.h"
#include "tests/made_series.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TASKS 300
#define QUIET_FIRST 8		/* first build that is counted without a change */
#define QUIET_BUILDS 45

#define CALM .noise = 0.025, .host = 0.02

static const struct {
	const char *name;
	struct made made;
} noises[] = {
	{ "calm", { CALM } },
	{ "1 % spikes", { CALM, .spikes = 0.01 } },
	{ "2 % spikes", { CALM, .spikes = 0.02 } },
	{ "10 % spikes", { CALM, .spikes = 0.1 } },
	{ "t3", { .noise = 0.019, .host = 0.02, .student = 3 } },
	{ "AR .6", { CALM, .alike = 0.6 } },
	{ "mixture", { .noise = 0.018, .student = 4, .spikes = 0.01, .recipe = 0.02, .alike = 0.2,
		       .host = 0.03, .drift = 0.7 } },
	{ "groups", { .noise = 0.018, .recipe = 0.03, .host = 0.02 } },
	{ "unlike", { .noise = 0.025, .host = 0.03, .drift = 0.5, .unlike = 0.5 } },
	{ "turbo", { .noise = 0.02, .host = 0.01, .turbo = 0.15, .unlike = 0.3 } },
	{ "day", { .noise = 0.02, .host = 0.01, .day = 0.12, .unlike = 0.3 } },
	{ "coupled", { CALM, .couple = 0.8, .spikes = 0.01 } },
	{ "half", { CALM, .half = 0.5, .spikes = 0.01 } },
	{ "levels", { .noise = 0.015, .host = 0.02, .levels = 0.06 } },
	{ "missing", { CALM, .missing = 0.2 } },
	{ "doubles", { CALM, .doubles = 25 } },
	{ "swapped", { CALM } },	/* after build 30 the machine is a fifth faster */
};

struct night {
	struct builds builds;
	struct rules rules;
	struct replay replay;
};

const char *nights_noise(size_t i)
{
	return i < ARRAY_SIZE(noises) ? noises[i].name : NULL;
}

const struct made *nights_made(const char *noise)
{
	for (size_t i = 0; i < ARRAY_SIZE(noises); i++) {
		if (!strcmp(noises[i].name, noise))
			return &noises[i].made;
	}
	exit(EXIT_FAILURE);
}

static void begin(struct night *night, struct made made, uint64_t seed, uint32_t builds)
{
	struct error err = { 0 };

	made_series_rules(&night->rules);
	made.metrics = night->rules.metrics;
	made.seed = seed;
	made.tasks = TASKS;
	made.builds = builds;
	if (made_series(&night->builds, &made))
		exit(EXIT_FAILURE);
	/* The totals follow one long task here. */
	for (size_t i = 0; i < builds; i++)
		night->builds.build[i].total[TOTAL_WALL_US] = night->builds.build[i].total[TOTAL_USER_US] = -1;
	if (replay_run(&night->replay, &night->builds, &night->rules, NULL, &err)) {
		fprintf(stderr, "%s\n", err.message);
		exit(EXIT_FAILURE);
	}
}

static void end(struct night *night)
{
	replay_release(&night->replay);
	builds_release(&night->builds);
}

static bool is_told(const struct night *night, const struct replay_step *s)
{
	return s->worse && !s->silent &&
	       (s->row < night->replay.total_row || (s->row >= night->replay.host_row && !s->machine));
}

#define RULE_BUILDS 3

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static bool rule_tells(const struct night *night, uint32_t task, uint32_t build)
{
	const struct replay *r = &night->replay;

	for (size_t m = 0; m < r->n_metrics; m++) {
		double v[64], far[64], now[RULE_BUILDS], middle, distance;
		size_t n = 0, k = 0;
		bool all = true;

		for (uint32_t b = build + 1; b > 0 && n < ARRAY_SIZE(v); b--) {
			double x = log((double)made_series_values((struct builds *)r->builds, r->metric[m])[task * r->n + b - 1]) -
				   r->factor[m][b - 1];

			if (isnan(x))
				continue;
			if (k < RULE_BUILDS)
				now[k++] = x;
			else
				v[n++] = x;
		}
		if (n < 5 || k < RULE_BUILDS)
			continue;
		qsort(v, n, sizeof *v, by_value);
		middle = stats_median_sorted(v, n);
		for (size_t i = 0; i < n; i++)
			far[i] = fabs(v[i] - middle);
		qsort(far, n, sizeof *far, by_value);
		distance = stats_median_sorted(far, n);
		for (size_t i = 0; i < k; i++)
			all = all && now[i] > middle + 4 * distance && now[i] > middle + log(1.05);
		if (all)
			return true;
	}
	return false;
}

static const uint32_t changed[NIGHTS_CHANGED] = { 7, 66, 125, 184, 243 };

static size_t changed_index(uint32_t task)
{
	size_t k = 0;

	while (k < ARRAY_SIZE(changed) && changed[k] != task)
		k++;
	return k;
}

static void count_told(struct night_found *f, const struct night *night, uint32_t history)
{
	bool seen[ARRAY_SIZE(changed)][NIGHTS_LATER] = { { false } };

	for (size_t i = 0; i < night->replay.n_steps; i++) {
		const struct replay_step *s = &night->replay.step[i];
		uint32_t task = replay_task(&night->replay, s->row);
		size_t k = changed_index(task);

		if (!is_told(night, s) || task == TASK_HOST || task == TASK_SHARED || s->at < history)
			continue;
		f->told++;
		f->wrong += k == ARRAY_SIZE(changed);
		for (uint32_t b = s->at; k < ARRAY_SIZE(changed) && b < history + NIGHTS_LATER && b < s->left; b++)
			seen[k][b - history] = true;
	}
	f->steps += ARRAY_SIZE(changed);
	for (size_t k = 0; k < ARRAY_SIZE(changed); k++) {
		for (size_t b = 0; b < NIGHTS_LATER; b++)
			f->found[b] += seen[k][b];
	}
}

static void count_ruled(struct night_found *f, const struct night *night, uint32_t history)
{
	for (uint32_t task = 0; task < TASKS; task++) {
		bool right = changed_index(task) < ARRAY_SIZE(changed);
		uint32_t b = 0;

		while (b < NIGHTS_LATER && !rule_tells(night, task, history + b))
			b++;
		f->rule_told += b < NIGHTS_LATER;
		f->rule_wrong += b < NIGHTS_LATER && !right;
		for (; right && b < NIGHTS_LATER; b++)
			f->rule_found[b]++;
	}
}

void nights_plant(struct made *made, struct made_change change[NIGHTS_CHANGED + 1], const struct night_steps *steps)
{
	change[0] = (struct made_change){ .task = MADE_ALL, .build = steps->history - 15, .by = steps->swap };
	for (size_t k = 0; k < NIGHTS_CHANGED; k++)
		change[k + 1] = (struct made_change){ .task = changed[k], .build = steps->history, .by = steps->by };
	made->change = change;
	made->n_changes = NIGHTS_CHANGED + 1;
}

void nights_steps(struct night_found *f, const struct night_steps *steps, uint64_t seed, size_t histories)
{
	for (size_t i = 0; i < histories; i++) {
		struct made_change change[NIGHTS_CHANGED + 1];
		struct made made = *nights_made(steps->noise);
		struct night night;

		nights_plant(&made, change, steps);
		begin(&night, made, seed + i, steps->history + NIGHTS_LATER);
		count_told(f, &night, steps->history);
		count_ruled(f, &night, steps->history);
		end(&night);
	}
}

static void count_quiet(struct night_quiet *q, const struct night *night)
{
	bool fails[QUIET_BUILDS] = { false }, begins[QUIET_BUILDS] = { false };

	for (size_t i = 0; i < night->replay.n_steps; i++) {
		const struct replay_step *s = &night->replay.step[i];

		q->better += !s->worse && !s->silent;
		if (!is_told(night, s))
			continue;
		q->findings++;
		q->shared += s->row >= night->replay.host_row;
		begins[s->at] = true;
		for (uint32_t b = s->at; b < s->left && b < QUIET_BUILDS; b++)
			fails[b] = true;
	}
	for (uint32_t b = QUIET_FIRST; b < QUIET_BUILDS; b++) {
		bool rule = false;

		for (uint32_t task = 0; task < TASKS && !rule; task++)
			rule = rule_tells(night, task, b);
		q->judged++;
		q->failed += fails[b];
		q->begun += begins[b];
		q->rule_failed += rule;
	}
}

void nights_quiet(struct night_quiet *q, const char *noise, uint64_t seed, size_t histories)
{
	struct made_change swap = { .task = MADE_ALL, .build = 30, .by = -.2 };

	for (size_t i = 0; i < histories; i++) {
		struct made made = *nights_made(noise);
		struct night night;

		if (!strcmp(noise, "swapped")) {
			made.change = &swap;
			made.n_changes = 1;
		}
		begin(&night, made, seed + i, QUIET_BUILDS);
		count_quiet(q, &night);
		end(&night);
	}
}
