/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_STATS_PARTITION_H
#define BUILDBEAT_STATS_PARTITION_H

#include <stddef.h>
#include <stdint.h>

/*
 * A series cut into segments of constant mean, so that the sum of squared residuals plus a
 * penalty for each segment is minimal.
 */
struct partition {
	size_t cap;
	double *sum;		/* of the first i values, and below of their squares */
	double *squares;
	double *cost;		/* minimum for the first i values, less the sum of their squares */
	uint32_t *from;		/* begin of the last segment of the first i values */
	struct partition_piece *piece, *spare;
	double low, high;	/* of the values */
};

#define PARTITION_INIT { 0 }

void partition_release(struct partition *p);

/* Loads n values, which should be near 0 for precision. Returns 0 or -ENOMEM. */
int partition_load(struct partition *p, const double *v, size_t n);

/* The mean of the loaded values [begin, end), and the sum of squares around it. */
double partition_mean(const struct partition *p, size_t begin, size_t end);
double partition_rest(const struct partition *p, size_t begin, size_t end);

/*
 * Cuts the n loaded values into segments of at least shortest values. start[] gets the index at
 * which each begins, from 0, ascending; it has room for n / shortest + 1. Returns their number.
 */
size_t partition_cut(struct partition *p, uint32_t *start, size_t n, double penalty,
		     size_t shortest);

#endif
