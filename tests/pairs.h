/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_TESTS_PAIRS_H
#define BUILDBEAT_TESTS_PAIRS_H

#include <stdbool.h>

/*
 * What a thing costs inside another, measured by pairs of runs with and without it,
 * in turn: the medians of the pairs' differences.
 */
struct pair_cost {
	double wall_us, cpu_us;
	double faults;		/* minor page faults; of one run only */
};

/* Children inherit it: one processor, and real-time priority where that is allowed;
 * what says so if not. */
void pairs_have_the_machine(const char *what);

/* Runs in a process of its own; execute does not return. */
struct pair_cost pairs_run(void (*execute)(const void *context, bool with), const void *context,
		      bool with);

/* Extra cost of each of the n things a run does, and in plain what one costs
 * without. pairs: at most 64. */
struct pair_cost pairs_measure(void (*execute)(const void *context, bool with), const void *context,
			  unsigned n, int pairs, struct pair_cost *plain);

#endif
