/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_BASE_SORT_H
#define BUILDBEAT_BASE_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A number with the key by which it is sorted. */
struct keyed {
	uint64_t key;
	int64_t value;
};

/* Sort by key; items with equal keys keep their order. 0 or -ENOMEM. */
int sort_keyed(struct keyed *k, size_t n);

/* True: a comes before b. */
typedef bool sort_before(const void *ctx, uint32_t a, uint32_t b);

/*
 * Put the first `top` (or all, if fewer) of the n indices in front, sorted, and
 * return their number. The order of the rest is undefined.
 */
size_t sort_top(uint32_t *index, size_t n, size_t top, sort_before *before, const void *ctx);

#endif
