/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_TESTS_NIGHTS_H
#define BUILDBEAT_TESTS_NIGHTS_H

#include "tests/made_series.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Nightly builds of 300 tasks, with noise of many kinds, and what the check says about them. One
 * replay has the verdict of every build.
 */
struct night_steps {		/* of five tasks, for good */
	const char *noise;	/* a name of nights_noise() */
	uint32_t history;	/* builds before */
	double by;
	double swap;		/* the change of all tasks 15 builds before, or 0 */
};

#define NIGHTS_LATER 5

struct night_found {
	size_t steps;
	size_t found[NIGHTS_LATER];	/* after so many builds, less one */
	size_t told, wrong;		/* findings from the first step on */
	/* The same of the rule that people write themselves: three builds that are each four median
	 * distances and 5 % above the median of those before. */
	size_t rule_found[NIGHTS_LATER], rule_told, rule_wrong;
};

struct night_quiet {		/* builds without a change */
	size_t judged;
	size_t failed, begun;	/* builds that fail, and those of them that are the first to fail of a finding */
	size_t findings, shared;	/* and those of them about all tasks */
	size_t better, rule_failed;
};

/* Many tasks that become slower together, by an eighth, with the usual thresholds. */
enum night_shared {
	SHARED_PLACES,		/* 120 tasks: all of twelve recipes */
	SHARED_SCATTERED,	/* 120 tasks of all recipes */
	SHARED_QUICK,		/* 68 tasks of .2 to .7 s, of seven recipes */
	SHARED_QUICK_SCATTERED,	/* of all recipes */
	SHARED_WAYS,
};

struct night_sums {
	size_t histories;
	size_t told[NIGHTS_LATER];	/* some finding about them, after so many builds, less one */
	double part[NIGHTS_LATER];	/* sums: of the planted CPU time that findings are about */
	size_t findings, wrong;		/* at the last build; about others, or better */
	size_t effects, held;		/* intervals, and those that hold the truth */
};

#define NIGHTS_CHANGED 5

/* A kind of noise; and a made series with these steps, and that of all tasks first. */
const struct made *nights_made(const char *noise);
void nights_plant(struct made *made, struct made_change change[NIGHTS_CHANGED + 1], const struct night_steps *steps);

/* The name of a kind of noise, NULL after the last one. */
const char *nights_noise(size_t i);

/* Adds what is found in so many histories from this seed on. */
void nights_steps(struct night_found *f, const struct night_steps *steps, uint64_t seed, size_t histories);
void nights_shared(struct night_sums *f, const char *noise, enum night_shared way, uint32_t history,
		   uint64_t seed, size_t histories);
/* As nights_steps(): how many effects are reported at the last build, and how many of them hold the truth. */
void nights_held(struct night_sums *f, const struct night_steps *steps, uint64_t seed, size_t histories);
void nights_quiet(struct night_quiet *q, const char *noise, uint64_t seed, size_t histories);

#endif
