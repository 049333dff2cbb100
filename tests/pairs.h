/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_TESTS_PAIRS_H
#define BUILDBEAT_TESTS_PAIRS_H

#include <stdbool.h>

/* What one run of a process costs; slope.h compares runs with and without a thing. */
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

#endif
