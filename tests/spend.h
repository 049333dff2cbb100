/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_TESTS_SPEND_H
#define BUILDBEAT_TESTS_SPEND_H

/* Shared by the benches: the cost of a process. */
struct spent {
	int status;		/* as from wait4(); not 0: it failed */
	double cpu_ms, wall_ms;
	long max_rss_kb;
};

/* Run a program without its output, and wait. */
struct spent spend(const char *const *argv);

/* Call work(context) in a process of its own: it pays for fresh memory too. */
struct spent spend_here(int (*work)(void *context), void *context);

/*
 * The cheapest runs of a program and, in turn, of work(context), of n each; the first round
 * only fills the caches. 0, or 1 if one of them failed.
 */
int spend_beside(const char *const *argv, int (*work)(void *context), void *context, int n,
		 struct spent *best, struct spent *best_work);

/* Work: read the recording at path. */
int spend_reading(void *path);

/* bench(dir) in a temporary directory. Returns the exit status, after a message on failure. */
int spend_in_tmpdir(int (*bench)(const char *dir), const char *failure);

/* The cheaper one (CPU). */
void spent_keep_best(struct spent *best, const struct spent *s);

#endif
