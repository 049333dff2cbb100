/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_HEAP_SAMPLE_H
#define BUILDBEAT_HEAP_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Which allocations are recorded, and what one of them stands for. The recorded bytes are a
 * Poisson process: the distances between them are exponentially distributed. An allocation is
 * recorded if such a byte is in it, with the probability p = 1 - exp(-size / period), and counts
 * 1 / p times. Estimates are then unbiased, whatever the order and the sizes of the allocations.
 */
#define SAMPLE_PERIOD_MAX ((uint64_t)1 << 40)

/* The number of bytes before the next one that is recorded. random: state, of any value. */
int64_t sample_distance(uint64_t *random, uint64_t period);

/* What a recorded allocation stands for. */
struct sample_weight {
	uint64_t count;		/* allocations, in 1/HEAP_UNIT */
	uint64_t bytes;
	uint64_t variance;	/* of bytes, in KiB squared */
};

/* size > 0, or period 0: then it stands for itself. */
struct sample_weight sample_weight(size_t size, uint64_t period);

#endif
