/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_BASE_SATURATE_H
#define BUILDBEAT_BASE_SATURATE_H

#include <stdint.h>

/* Sums and products of numbers from recordings, which may be damaged: they stop at the largest
 * number. Not for negative numbers. */
static inline int64_t sat_add(int64_t a, int64_t b)
{
	return __builtin_add_overflow(a, b, &a) ? INT64_MAX : a;
}

static inline int64_t sat_mul(int64_t a, int64_t b)
{
	return __builtin_mul_overflow(a, b, &a) ? INT64_MAX : a;
}

#endif
