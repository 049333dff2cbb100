/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_STATS_UTEST_H
#define BUILDBEAT_STATS_UTEST_H

#include "stats/stats.h"

/*
 * The test of Mann and Whitney: does one of two samples tend to be larger, whatever
 * their distribution. Samples are sorted. -ENOMEM or 0.
 *
 * Two-sided, ties counted as they are: twice the probability of what was found or
 * more, exact unless that takes too long (samples of more than about a hundred that
 * hardly differ, where the normal distribution is as good). 1 where nothing can be
 * said.
 */
int utest_p(double *p, const double *a, size_t n_a, const double *b, size_t n_b);

/*
 * How much b is above a (Hodges and Lehmann): the median of all differences, and
 * what it lies in with some confidence.
 */
int utest_shift(double *shift, struct interval *in, const double *a, size_t n_a,
		const double *b, size_t n_b, double confidence);

#endif
