/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_LARGEST_H
#define BUILDBEAT_ANALYSE_LARGEST_H

#include "analyse/curve.h"
#include "analyse/summary.h"

#include <stddef.h>
#include <stdint.h>

#define LARGEST_MAX 6

/*
 * The tasks that show best where the memory of a build went: the LARGEST_SURE largest at its peak,
 * then those with most memory over time. A moment counts with the square of the build's
 * memory, so that the time around the peak matters most.
 */
#define LARGEST_SURE 2

struct largest {
	size_t n;
	uint32_t task[LARGEST_MAX];	/* the one with the most first */
	struct curve kb[LARGEST_MAX];	/* as sampled, from start to end */
};

/* 0 or -ENOMEM. Always release. */
int largest_make(struct largest *l, const struct summary *s);
void largest_release(struct largest *l);

#endif
