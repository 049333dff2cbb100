/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_COMPARE_PARALLEL_H
#define BUILDBEAT_COMPARE_PARALLEL_H

#include <stddef.h>

/*
 * The same work for each of many items, by as many threads as there are processors. Each
 * takes the next few items that nobody has yet, with a context of its own, so what an
 * item comes to must not depend on who does it or when.
 */
struct parallel {
	/* Items from begin up to but not including end. 0 or a negative errno, which ends it. */
	int (*work)(void *context, size_t begin, size_t end);
	void *context[16];	/* one a thread; the first n_threads are used */
	size_t n_threads;
	size_t step;		/* items at once */
};

/* How many are worth while for so many items, at most what context[] holds. */
size_t parallel_threads(size_t n, size_t step);

/* All n items. 0 or what the first thread that failed said. */
int parallel_run(const struct parallel *p, size_t n);

#endif
