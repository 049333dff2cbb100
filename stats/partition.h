/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_STATS_PARTITION_H
#define BUILDBEAT_STATS_PARTITION_H

#include <stddef.h>
#include <stdint.h>

/*
 * A series cut into segments of constant mean such that the squares of what is left
 * over, plus a penalty a segment, are the least possible.
 */
struct partition {
	size_t cap;
	double *sum;		/* of the first i values, and of their squares */
	double *squares;
	double *cost;		/* of the first i values, less the sum of their squares */
	double *share;		/* 1/cap ... 1/1 */
	uint32_t *from;		/* where the last segment of the first i values begins */
};

#define PARTITION_INIT { 0 }

void partition_release(struct partition *p);

/* Take up n values; they are best near 0. 0 or -ENOMEM. */
int partition_load(struct partition *p, const double *v, size_t n);

/* Of the loaded values from begin up to but not including end: the mean, and the sum
 * of squares around it. */
double partition_mean(const struct partition *p, size_t begin, size_t end);
double partition_rest(const struct partition *p, size_t begin, size_t end);

/*
 * Cut the n loaded values into segments of at least shortest values: start[] becomes the
 * index each begins at, ascending, from 0 on; room for n / shortest + 1. Their number.
 */
size_t partition_cut(struct partition *p, uint32_t *start, size_t n, double penalty,
		     size_t shortest);

#endif
