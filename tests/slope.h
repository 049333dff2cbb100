/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_TESTS_SLOPE_H
#define BUILDBEAT_TESTS_SLOPE_H

#include <stdbool.h>

/*
 * What one more of a thing costs, on a machine that others use too: many short runs
 * with few and with many of the things, with and without what is measured, in turn.
 * Only the fastest run of each kind counts, and of these only the slope over the
 * number of things, so that what a run costs as a whole is no part of it.
 *
 * System calls are counted in one more run of each kind, by ptrace(); page faults
 * are the kernel's. Both are exact where a clock is not.
 */
struct slope {
	double wall_us, cpu_us;
	double faults;
	double calls;		/* negative: this machine does not let us count */
};

struct slope_bench {
	/* Does the work with n things, in a process of its own; does not return. */
	void (*execute)(const void *context, unsigned n, bool with);
	const void *context;
	unsigned few, many;
	int rounds;
};

/* In plain: of one thing without. In extra: how much more it is with. */
void slope_measure(const struct slope_bench *b, struct slope *plain, struct slope *extra);

/* One line; the ratios first. */
void slope_print(const char *what, const struct slope *plain, const struct slope *extra,
		 const char *bar);

#endif
