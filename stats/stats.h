/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_STATS_STATS_H
#define BUILDBEAT_STATS_STATS_H

#include <stddef.h>

/*
 * Statistics of samples. A sample is an array of finite numbers. Statistics of an empty sample
 * are NaN. A standard deviation is that of a normal distribution with the same spread.
 */

void stats_sort(double *v, size_t n);

double stats_mean(const double *v, size_t n);
/* With n - 1 degrees of freedom; NaN for fewer than two values. */
double stats_variance(const double *v, size_t n);

/* The middle value, or the mean of the middle two. stats_median() reorders v: the smaller
 * n / 2 values come first. */
double stats_median(double *v, size_t n);
double stats_median_sorted(const double *v, size_t n);

/* The standard deviation, estimated by the median distance from centre: nearly half of the
 * values can be outliers. Overwrites v. */
double stats_spread(double *v, size_t n, double centre);

/* A confidence interval; infinite if unknown. */
struct interval {
	double low, high;
};

/* Interval of the median of the distribution that a sorted sample was drawn from, by order
 * statistics. Infinite if the sample is too small for that confidence. */
struct interval stats_median_interval(const double *v, size_t n, double confidence);

/*
 * Benjamini and Hochberg: replaces the p values of n tests by the smallest false discovery rate
 * at which each is reported. NaN (not tested) stays and does not count. Returns 0 or -ENOMEM.
 */
int stats_adjust(double *p, size_t n);

/*
 * Shrinkage of many similar variances, each from few values: they are treated as drawn around a
 * common variance that is worth df additional values (Smyth 2004). With df INFINITY all are
 * equal; with 0 there is no common variance.
 */
struct prior {
	double variance, df;
};

/* Estimates the prior from n variances with df[] degrees of freedom; variances that are 0 or
 * unknown do not count. */
struct prior stats_prior(const double *variance, const double *df, size_t n);

/* A variance combined with the prior; its degrees of freedom are prior's df + df. */
double stats_shrink(const struct prior *prior, double variance, double df);

#endif
