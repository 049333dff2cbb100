/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_TESTS_SLOPE_H
#define BUILDBEAT_TESTS_SLOPE_H

#include <stdbool.h>

/*
 * The cost of one more thing on a machine that others use: many short runs with few and with
 * many things, with and without the measured code, in turn. Only the fastest run of each
 * kind counts, and only the slope over the number of things, so that the constant cost of a
 * run does not matter. System calls are counted in one more run of each kind, by ptrace();
 * page faults are the kernel's. Both are exact, unlike time.
 */
struct slope {
	double wall_us, cpu_us;
	double faults;
	double calls;		/* negative: tracing is not permitted */
};

struct slope_bench {
	/* Does the work with n things in a process of its own; does not return. */
	void (*execute)(const void *context, unsigned n, bool with);
	const void *context;
	unsigned few, many;
	int rounds;
};

struct slope_result {
	struct slope plain;	/* of one thing without the measured code */
	struct slope extra;	/* the additional cost with it */
	struct slope noise;	/* the same difference between two sets of plain runs */
};

struct slope_result slope_measure(const struct slope_bench *b);

/* One line; the ratios first. */
void slope_print(const char *what, const struct slope_result *r, const char *bar);

#endif
