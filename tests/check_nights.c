/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "tests/nights.h"
#include "tests/support.h"

#include <string.h>

/*
 * What the check finds in nightly builds, and how often it fails without a change. bench_nights
 * prints the same of many more histories. The seeds are fixed, so these numbers never change but
 * with the check.
 */
#define SEED 90000
#define HISTORIES 6

/* Shares that must be found within 3 and 5 builds. */
static const struct {
	struct night_steps steps;
	double third, fifth;
} cases[] = {
	/* The first weeks. */
	{ { "1 % spikes", 8, .3, 0 }, .9, 1 }, { { "1 % spikes", 12, .3, 0 }, .9, 1 },
	{ { "1 % spikes", 16, .3, 0 }, .9, 1 }, { { "calm", 8, .2, 0 }, .8, .95 },
	{ { "calm", 12, .2, 0 }, .8, .95 }, { { "coupled", 12, .3, 0 }, .3, .9 },
	/* After all tasks became faster or slower. */
	{ { "calm", 45, .2, -.2 }, .95, .95 }, { { "calm", 45, .2, .25 }, .95, .95 },
	{ { "calm", 45, .2, -.05 }, .95, .95 }, { { "calm", 45, .2, -.1 }, .95, .95 },
	/* The same, and noise, where a replay turns to later builds (at 90). */
	{ { "calm", 100, .2, -.2 }, .95, .95 }, { { "calm", 103, .2, .25 }, .95, .95 },
	{ { "unlike", 90, .1, 0 }, .7, .95 }, { { "mixture", 92, .1, 0 }, .5, .85 },
	/* Noise of all kinds. */
	{ { "calm", 30, .1, 0 }, .95, 1 }, { { "2 % spikes", 30, .1, 0 }, .85, .95 },
	{ { "10 % spikes", 30, .2, 0 }, .7, .95 }, { { "mixture", 30, .1, 0 }, .5, .85 },
	{ { "groups", 30, .1, 0 }, .3, .6 }, { { "unlike", 30, .1, 0 }, .7, .95 },
	{ { "day", 30, .1, 0 }, .5, .8 }, { { "turbo", 30, .1, 0 }, .4, .6 },
	{ { "missing", 30, .1, 0 }, .4, .8 }, { { "half", 30, .2, 0 }, .6, .8 },
};

TEST_GROUP("nights");

TEST_EACH(steps, cases)
{
	const struct night_steps *s = &cases[_i].steps;
	struct night_found f = { 0 };

	nights_steps(&f, s, SEED, HISTORIES);
	ck_assert_uint_eq(f.steps, 5 * HISTORIES);
	ck_assert_msg((double)f.found[2] >= cases[_i].third * (double)f.steps &&
		      (double)f.found[4] >= cases[_i].fifth * (double)f.steps,
		      "%s, %u builds: %zu and %zu of %zu", s->noise, s->history, f.found[2], f.found[4], f.steps);
	/* What is found stays found. */
	for (size_t i = 1; i < NIGHTS_LATER; i++)
		ck_assert_uint_ge(f.found[i] + 1, f.found[i - 1]);
	ck_assert_msg(f.wrong <= 1, "%zu of %zu are wrong", f.wrong, f.told);
	/* A rule without statistics is not better where it is right. */
	if (f.rule_wrong * 33 <= f.rule_told && s->history <= 30 && strcmp(s->noise, "coupled"))
		ck_assert_uint_ge(f.found[4] + 1, f.rule_found[4]);
}

TEST(every_noise_is_known)
{
	size_t n = 0;

	while (nights_noise(n))
		n++;
	ck_assert_uint_ge(n, 17);
}

/* False alarms that begin in 222 builds without a change: as many as the check may have, and chance. */
static const struct { const char *noise; size_t most; } quiets[] = {
	{ "calm", 1 }, { "1 % spikes", 1 }, { "2 % spikes", 1 }, { "10 % spikes", 2 }, { "t3", 2 },
	{ "AR .6", 4 }, { "mixture", 2 }, { "groups", 1 }, { "unlike", 2 }, { "turbo", 4 }, { "day", 3 },
	{ "coupled", 2 }, { "half", 1 }, { "levels", 4 }, { "missing", 1 }, { "doubles", 2 },
	{ "swapped", 1 },
};

TEST_EACH(quiet, quiets)
{
	struct night_quiet q = { 0 };

	nights_quiet(&q, quiets[_i].noise, SEED + 5000, HISTORIES);
	ck_assert_uint_eq(q.judged, HISTORIES * 37);
	ck_assert_msg(q.begun <= quiets[_i].most, "%s: %zu begin, %zu findings, %zu about all tasks",
		      quiets[_i].noise, q.begun, q.findings, q.shared);
	/* None of them stays. */
	ck_assert_msg(q.failed <= 20 * q.begun, "%s: %zu fail", quiets[_i].noise, q.failed);
}

/* Changes that many tasks share: found within 3 builds, for most of the time, with intervals that hold it. */
static const struct { const char *noise; uint32_t history; enum night_shared way; } shared[] = {
	{ "calm", 12, SHARED_PLACES }, { "calm", 30, SHARED_SCATTERED }, { "calm", 18, SHARED_QUICK },
	{ "calm", 30, SHARED_QUICK_SCATTERED }, { "2 % spikes", 30, SHARED_QUICK }, { "unlike", 30, SHARED_QUICK },
	{ "missing", 30, SHARED_QUICK_SCATTERED },
};

TEST_EACH(shared, shared)
{
	struct night_sums f = { 0 };

	nights_shared(&f, shared[_i].noise, shared[_i].way, shared[_i].history, SEED, HISTORIES);
	ck_assert_msg(f.told[2] + 1 >= HISTORIES && f.told[4] == HISTORIES, "%s, way %d: %zu, then %zu of %d",
		      shared[_i].noise, shared[_i].way, f.told[2], f.told[4], HISTORIES);
	ck_assert_msg(f.part[4] >= 0.8 * HISTORIES, "of %.2f of the time", f.part[4] / HISTORIES);
	ck_assert_msg(f.wrong * 10 <= f.findings, "%zu of %zu are wrong", f.wrong, f.findings);
	ck_assert_msg(f.held * 10 >= f.effects * 8, "%zu of %zu intervals", f.held, f.effects);
}

TEST_MAIN(nights);
