/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_TESTS_PAIRS_H
#define BUILDBEAT_TESTS_PAIRS_H

#include <stdbool.h>

/*
 * The cost of a thing inside another, measured by pairs of runs with and without it, in
 * turn: the medians of the differences.
 */
struct pair_cost {
	double wall_us, cpu_us;
	double faults;		/* minor page faults; of one run only */
};

/* One processor, and real-time priority where permitted, also for children; returns which of
 * it is missing. */
void pairs_have_the_machine(const char *what);

/* Runs in a process of its own; execute does not return. */
struct pair_cost pairs_run(void (*execute)(const void *context, bool with), const void *context,
		      bool with);

/* Extra cost of each of the n things of a run; in plain, the cost of one without it. pairs:
 * at most 64. */
struct pair_cost pairs_measure(void (*execute)(const void *context, bool with), const void *context,
			  unsigned n, int pairs, struct pair_cost *plain);

#endif
