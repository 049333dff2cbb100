/* SPDX-License-Identifier: MIT */
#include "stats/distribution.h"
#include "stats/stats.h"

#include "base/array.h"
#include "base/minmax.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* Standard deviation of a normal distribution, divided by its median absolute deviation. */
#define NORMAL_MAD 1.4826022185056018

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

void stats_sort(double *v, size_t n)
{
	qsort(v, n, sizeof *v, ascending);
}

double stats_mean(const double *v, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += v[i];
	return sum / n;
}

double stats_variance(const double *v, size_t n)
{
	double mean = stats_mean(v, n), sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (v[i] - mean) * (v[i] - mean);
	return n < 2 ? NAN : sum / (n - 1);
}

static void swap(double *a, double *b)
{
	double t = *a;

	*a = *b;
	*b = t;
}

/* Moves the k-th smallest value to v[k], smaller or equal ones before it. */
static void select_nth(double *v, size_t n, size_t k)
{
	size_t low = 0, high = n - 1;

	while (low < high) {
		size_t i = low, j = high;
		double pivot;

		/* Median of three: sorted input is common. */
		if (v[low + (high - low) / 2] < v[low])
			swap(&v[low + (high - low) / 2], &v[low]);
		if (v[high] < v[low])
			swap(&v[high], &v[low]);
		if (v[high] < v[low + (high - low) / 2])
			swap(&v[high], &v[low + (high - low) / 2]);
		pivot = v[low + (high - low) / 2];
		while (i <= j) {
			while (v[i] < pivot)
				i++;
			while (pivot < v[j])
				j--;
			if (i > j)
				break;
			swap(&v[i++], &v[j]);
			if (j-- == 0)
				break;
		}
		if (k <= j && j < high)
			high = j;
		else if (k >= i)
			low = i;
		else
			return;
	}
}

double stats_median(double *v, size_t n)
{
	double upper, lower;

	if (!n)
		return NAN;
	select_nth(v, n, n / 2);
	upper = v[n / 2];
	if (n % 2)
		return upper;
	lower = v[0];
	for (size_t i = 1; i < n / 2; i++)
		lower = MAX(v[i], lower);
	return lower + 0.5 * (upper - lower);
}

double stats_median_sorted(const double *v, size_t n)
{
	if (!n)
		return NAN;
	return n % 2 ? v[n / 2] : v[n / 2 - 1] + 0.5 * (v[n / 2] - v[n / 2 - 1]);
}

double stats_spread(double *v, size_t n, double centre)
{
	for (size_t i = 0; i < n; i++)
		v[i] = fabs(v[i] - centre);
	return NORMAL_MAD * stats_median(v, n);
}

/* P(at most k heads in n tosses of a coin). */
static double coins_up_to(size_t n, size_t k)
{
	return stats_beta_share(n - k, k + 1, 0.5);
}

struct interval stats_median_interval(const double *v, size_t n, double confidence)
{
	double miss = 0.5 * (1 - confidence);
	size_t low = 0, high = n / 2;

	if (!n || !(coins_up_to(n, 0) <= miss))
		return (struct interval){ -INFINITY, INFINITY };
	/* The largest k with which [k, n - 1 - k] misses seldom enough. */
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (coins_up_to(n, middle) <= miss)
			low = middle;
		else
			high = middle;
	}
	return (struct interval){ v[low], v[n - 1 - low] };
}

static int by_value(const void *a, const void *b)
{
	double x = **(double *const *)a, y = **(double *const *)b;

	return x < y ? -1 : x > y;
}

int stats_adjust(double *p, size_t n)
{
	double **order = n ? array_new(n, sizeof *order) : NULL, least = 1;
	size_t tested = 0;

	if (n && !order)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (!isnan(p[i]))
			order[tested++] = &p[i];
	}
	if (tested)
		qsort(order, tested, sizeof *order, by_value);
	for (size_t i = tested; i-- > 0;) {
		double rate = *order[i] * tested / (i + 1);

		least = MIN(rate, least);
		*order[i] = least;
	}
	free(order);
	return 0;
}

struct prior stats_prior(const double *variance, const double *df, size_t n)
{
	struct prior prior = { 0 };
	double mean = 0, squares = 0, by_chance = 0, half;
	size_t known = 0;

	for (size_t i = 0; i < n; i++) {
		double x, step;

		if (!(variance[i] > 0 && isfinite(variance[i]) && df[i] > 0))
			continue;
		/* without the bias of few degrees of freedom */
		x = log(variance[i]) - stats_digamma(0.5 * df[i]) + log(0.5 * df[i]);
		step = x - mean;
		mean += step / ++known;
		squares += step * (x - mean);
		by_chance += stats_trigamma(0.5 * df[i]);
	}
	if (known < 2)
		return prior;
	half = squares / (known - 1) - by_chance / known;
	if (half > 0) {
		half = stats_trigamma_inverse(half);
		prior.df = 2 * half;
		prior.variance = exp(mean + stats_digamma(half) - log(half));
	} else {
		prior.df = INFINITY;
		prior.variance = exp(mean);
	}
	return prior;
}

double stats_shrink(const struct prior *prior, double variance, double df)
{
	if (isinf(prior->df))
		return prior->variance;
	if (!(prior->df > 0))
		return variance;
	if (!(df > 0))
		return prior->variance;
	return (prior->df * prior->variance + df * variance) / (prior->df + df);
}
