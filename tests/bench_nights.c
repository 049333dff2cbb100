/* SPDX-License-Identifier: MIT */
/*
 * The verdict of nightly builds: the share of planted changes that are confirmed within 2, 3 and 5
 * builds, the share of false reports, and how many builds fail without a change. The same of the
 * rule that people write themselves is beside it. Then what is reported of changes that many tasks share,
 * and how many of the reported intervals hold the truth. Every run has new seeds, unless one is given.
 *
 * bench_nights [SEED [HISTORIES [NOISE]]]
 */
#include "base/array.h"
#include "tests/nights.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct {
	struct night_steps steps;
	const char *bar;
} cells[] = {
	{ { "1 % spikes", 8, .3, 0 }, "- .9 1" }, { { "1 % spikes", 12, .3, 0 }, "- .9 1" },
	{ { "1 % spikes", 16, .3, 0 }, "- .9 1" },
	{ { "calm", 8, .2, 0 }, "- .8 .95" }, { { "calm", 12, .2, 0 }, "- .8 .95" },
	{ { "calm", 45, .2, 0 }, "- 1 1" }, { { "calm", 45, .2, -.2 }, "- .95 .95" },
	{ { "calm", 45, .2, .25 }, "- .95 .95" }, { { "calm", 45, .2, -.05 }, "- .95 .95" },
	{ { "calm", 30, .1, 0 }, ".8 .95 1" }, { { "2 % spikes", 30, .1, 0 }, ".55 .85 .97" },
	{ { "mixture", 30, .1, 0 }, ".2 .5 .85" }, { { "groups", 30, .1, 0 }, ".1 .3 .6" },
	{ { "unlike", 30, .1, 0 }, ".5 .7 .95" }, { { "10 % spikes", 30, .2, 0 }, "- .7 1" },
	{ { "t3", 30, .1, 0 }, "" }, { { "AR .6", 30, .1, 0 }, "" },
	{ { "turbo", 30, .1, 0 }, "" }, { { "day", 30, .1, 0 }, "" }, { { "coupled", 8, .3, 0 }, "- .9 1" },
	{ { "coupled", 12, .3, 0 }, "- .9 1" }, { { "coupled", 16, .3, 0 }, "- .9 1" },
	{ { "coupled", 30, .1, 0 }, "" }, { { "half", 30, .1, 0 }, "" }, { { "levels", 30, .1, 0 }, "" },
	{ { "missing", 30, .1, 0 }, "" }, { { "doubles", 30, .1, 0 }, "" },
};

static const struct {
	const char *noise;
	double bar;
} quiets[] = {
	{ "calm", 5 }, { "2 % spikes", 5 }, { "10 % spikes", 10 }, { "AR .6", 10 }, { "mixture", 5 },
	{ "unlike", 25 }, { "turbo", 20 }, { "day", 30 }, { "groups", 5 }, { "t3", 5 }, { "coupled", 5 },
	{ "half", 5 }, { "levels", 30 }, { "missing", 5 }, { "doubles", 20 }, { "swapped", 5 },
};

/* Changes that many tasks share. */
static const struct {
	const char *noise;
	uint32_t history;
} shared[] = {
	{ "calm", 12 }, { "calm", 30 }, { "2 % spikes", 30 }, { "mixture", 30 }, { "groups", 30 },
	{ "unlike", 30 }, { "day", 30 }, { "half", 30 }, { "missing", 30 },
};

static double part(size_t n, size_t of)
{
	return of ? (double)n / (double)of : 0;
}

static void bench_steps(size_t cell, uint64_t seed, size_t histories)
{
	const struct night_steps *s = &cells[cell].steps;
	struct night_found f = { 0 };
	struct night_sums held = { 0 };

	nights_steps(&f, s, seed, histories);
	nights_held(&held, s, seed, histories);
	printf("%-11s %2u builds, %+.0f %%%s: %.2f %.2f %.2f (bar: %s), false %.3f, held %.2f; "
	       "the rule %.2f %.2f, false %.3f\n",
	       s->noise, s->history, 100 * s->by, s->swap < 0 ? ", faster before" : s->swap > 0 ? ", slower before" : "",
	       part(f.found[1], f.steps), part(f.found[2], f.steps), part(f.found[4], f.steps), cells[cell].bar,
	       part(f.wrong, f.told), part(held.held, held.effects), part(f.rule_found[2], f.steps), part(f.rule_found[4], f.steps),
	       part(f.rule_wrong, f.rule_told));
}

static void bench_shared(size_t i, enum night_shared way, uint64_t seed, size_t histories)
{
	static const char *const word[SHARED_WAYS] = {
		"120 of 300 tasks, places", "120 of 300 tasks, scattered", "68 quick tasks, places",
		"68 quick tasks, scattered",
	};
	struct night_sums f = { 0 };
	double n = (double)histories;

	nights_shared(&f, shared[i].noise, way, shared[i].history, seed, histories);
	printf("%-11s %2u builds, +12 %% of %s: told %.2f %.2f %.2f, of its time %.2f %.2f %.2f, %.1f findings, "
	       "wrong %.3f, held %.2f\n", shared[i].noise, shared[i].history, word[way],
	       part(f.told[1], f.histories), part(f.told[2], f.histories), part(f.told[4], f.histories),
	       f.part[1] / n, f.part[2] / n, f.part[4] / n, (double)f.findings / n, part(f.wrong, f.findings),
	       part(f.held, f.effects));
}

static void bench_quiet(size_t i, uint64_t seed, size_t histories)
{
	struct night_quiet q = { 0 };

	nights_quiet(&q, quiets[i].noise, seed, histories);
	printf("%-11s without a change, of 1000: %.1f fail (bar: %.0f), %.1f begin, %.1f findings, %.1f about all tasks, "
	       "%.1f better; the rule: %.0f fail\n", quiets[i].noise, 1000 * part(q.failed, q.judged), quiets[i].bar,
	       1000 * part(q.begun, q.judged), 1000 * part(q.findings, q.judged), 1000 * part(q.shared, q.judged),
	       1000 * part(q.better, q.judged), 1000 * part(q.rule_failed, q.judged));
}

int main(int argc, char *argv[])
{
	uint64_t seed = argc > 1 && *argv[1] ? strtoull(argv[1], NULL, 10) : (uint64_t)time(NULL) * 1000;
	size_t histories = argc > 2 ? strtoull(argv[2], NULL, 10) : 20;
	const char *only = argc > 3 ? argv[3] : "";

	printf("found within 2, 3 and 5 builds; the rule of 3 builds within 3 and 5:\n");
	for (size_t i = 0; i < ARRAY_SIZE(cells); i++) {
		if (strstr(cells[i].steps.noise, only))
			bench_steps(i, seed, histories);
	}
	for (size_t i = 0; i < ARRAY_SIZE(shared); i++) {
		for (enum night_shared way = 0; strstr(shared[i].noise, only) && way < SHARED_WAYS; way++)
			bench_shared(i, way, seed, histories);
	}
	for (size_t i = 0; i < ARRAY_SIZE(quiets); i++) {
		if (strstr(quiets[i].noise, only))
			bench_quiet(i, seed + 5000, histories);
	}
	return 0;
}
