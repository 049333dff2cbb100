/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_COMPARE_PARALLEL_H
#define BUILDBEAT_COMPARE_PARALLEL_H

#include <stddef.h>

/*
 * The same work for many items, with a thread for each processor. Each thread repeatedly takes the
 * next few items and has its own context. The result of an item must not depend on which
 * thread processes it, or when.
 */
struct parallel {
	/* Processes items [begin, end). A negative errno stops all threads. */
	int (*work)(void *context, size_t begin, size_t end);
	void *context[16];	/* of each thread; the first n_threads are used */
	size_t n_threads;
	size_t step;		/* items a thread takes at once */
};

/* A useful number of threads for n items, at most the size of context[]. */
size_t parallel_threads(size_t n, size_t step);

/* Processes n items. Returns 0 or the errno of the first thread that failed. */
int parallel_run(const struct parallel *p, size_t n);

#endif
