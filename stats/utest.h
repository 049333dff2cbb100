/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_STATS_UTEST_H
#define BUILDBEAT_STATS_UTEST_H

#include "stats/stats.h"

/*
 * The test of Mann and Whitney: whether one of two sorted samples tends to be larger, for any
 * distribution. Returns 0 or -ENOMEM.
 *
 * *p is two-sided and takes ties into account. It is exact unless that takes too long, which
 * is for samples of more than about 100 values that hardly differ; then it is the normal
 * approximation. It is 1 if the samples say nothing.
 */
int utest_p(double *p, const double *a, size_t n_a, const double *b, size_t n_b);

/* The same, always by the normal approximation. */
int utest_p_normal(double *p, const double *a, size_t n_a, const double *b, size_t n_b);

/* The shift from a to b (Hodges and Lehmann): the median of all differences, and its interval. */
int utest_shift(double *shift, struct interval *in, const double *a, size_t n_a,
		const double *b, size_t n_b, double confidence);

#endif
