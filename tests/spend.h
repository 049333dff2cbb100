/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_TESTS_SPEND_H
#define BUILDBEAT_TESTS_SPEND_H

/* What benches share: what a process costs. */
struct spent {
	int status;		/* as from wait4(); not 0: it failed */
	double cpu_ms, wall_ms;
	long max_rss_kb;
};

/* Run a program, its output to nowhere, and wait. */
struct spent spend(const char *const *argv);

/* Call work(context) in a process of its own: it pays for fresh memory too. */
struct spent spend_here(int (*work)(void *context), void *context);

/* The cheapest (CPU) of both. */
void spent_keep_best(struct spent *best, const struct spent *s);

#endif
