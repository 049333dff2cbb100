/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_HEAP_SAMPLE_H
#define BUILDBEAT_HEAP_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Which allocations are recorded, and what one of them stands for. The bytes that a thread
 * allocates, one after the other, are divided into stretches of `period` bytes, and in each of
 * them one byte is chosen at random: a Poisson process, of which it is known how many events each
 * stretch has. An allocation is recorded if a chosen byte is in it. If the probability of that is
 * p, it counts 1 / p times. So estimates are unbiased, whatever the order and the sizes of the
 * allocations are; and the sum of all is much more exact than its parts.
 */
#define SAMPLE_PERIOD_MAX ((uint64_t)1 << 40)

/* Of a thread; random has any value before the beginning. */
struct sample_state {
	uint64_t random;
	uint64_t chosen;	/* the byte of the stretch that is next */
};

/* The number of bytes before the first chosen one, from the beginning of a thread. */
int64_t sample_begin(struct sample_state *s, uint64_t period);

/* The same after an allocation that had the chosen byte: it ended -left bytes behind it. */
int64_t sample_next(struct sample_state *s, uint64_t period, int64_t left);

/* What a recorded allocation stands for. */
struct sample_weight {
	uint64_t count;		/* allocations, in 1/HEAP_UNIT */
	uint64_t bytes;
	uint64_t variance;	/* of bytes, in KiB squared */
};

/* size > 0, or period 0: then it stands for itself. */
struct sample_weight sample_weight(size_t size, uint64_t period);

#endif
