/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_STATS_STATS_H
#define BUILDBEAT_STATS_STATS_H

#include <stddef.h>

/*
 * Figures of samples. A sample is an array of finite numbers; an empty one has
 * NaN for a figure. A standard deviation is what a normal distribution of the same
 * spread has.
 */

/* In ascending order. */
void stats_sort(double *v, size_t n);

double stats_mean(const double *v, size_t n);
/* With n - 1 degrees of freedom; NaN for less than two. */
double stats_variance(const double *v, size_t n);

/* The middle one, or the mean of the middle two; the first puts v in another order. */
double stats_median(double *v, size_t n);
double stats_median_sorted(const double *v, size_t n);

/* The standard deviation by the median distance from centre, as stats_median()
 * overwriting v; nearly half of it may be anything. */
double stats_spread(double *v, size_t n, double centre);

/* What lies between low and high with at least some confidence. Not known: infinite. */
struct interval {
	double low, high;
};

/* Of the median of what a sorted sample was drawn from: order statistics, of any
 * distribution. Infinite where the sample is too small for that confidence. */
struct interval stats_median_interval(const double *v, size_t n, double confidence);

/*
 * Benjamini and Hochberg: the p values of n tests become the smallest false discovery
 * rate each is reported at. NaN, not tested, stays and does not count. 0 or -ENOMEM.
 */
int stats_adjust(double *p, size_t n);

/* The same of those n of `tests` tests that matter: all others had larger p values. */
int stats_adjust_among(double *p, size_t n, size_t tests);

/*
 * Variances of many alike, each from few values, borrow from each other: they are
 * taken to be drawn around a common one that is worth df values more (Smyth 2004).
 * df INFINITY: all are the same; 0: nothing is known but what each says.
 */
struct prior {
	double variance, df;
};

/* From n variances of so many degrees of freedom; those of 0 or that are not known do
 * not count. */
struct prior stats_prior(const double *variance, const double *df, size_t n);

/* A variance with what the prior says; its degrees of freedom are prior's df + df. */
double stats_shrink(const struct prior *prior, double variance, double df);

#endif
