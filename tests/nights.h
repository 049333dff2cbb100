/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_TESTS_NIGHTS_H
#define BUILDBEAT_TESTS_NIGHTS_H

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

/* The name of a kind of noise, NULL after the last one. */
const char *nights_noise(size_t i);

/* Adds what is found in so many histories from this seed on. */
void nights_steps(struct night_found *f, const struct night_steps *steps, uint64_t seed, size_t histories);
void nights_quiet(struct night_quiet *q, const char *noise, uint64_t seed, size_t histories);

#endif
