/* SPDX-License-Identifier: MIT */
#include "stats/distribution.h"
#include "stats/utest.h"

#include "base/array.h"
#include "base/minmax.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXACT_STEPS (1u << 21)	/* above this the normal approximation is used */

/* A run of equal values in both samples together. */
struct tie {
	size_t in_a, in_b;
};

/* The next run from at_a and at_b; false at the end of both. */
static bool next_tie(struct tie *t, const double *a, size_t n_a, size_t *at_a,
		     const double *b, size_t n_b, size_t *at_b)
{
	double value;

	*t = (struct tie){ 0 };
	if (*at_a == n_a && *at_b == n_b)
		return false;
	value = *at_b == n_b || (*at_a < n_a && a[*at_a] < b[*at_b]) ? a[*at_a] : b[*at_b];
	while (*at_a < n_a && a[*at_a] <= value) {
		++*at_a;
		t->in_a++;
	}
	while (*at_b < n_b && b[*at_b] <= value) {
		++*at_b;
		t->in_b++;
	}
	return true;
}

/* Two samples. twice_u is twice the number of pairs in which a's value is the larger; a tie
 * counts as half a pair. */
struct pairs {
	size_t n_a, n_b;
	uint64_t twice_u;
	double cubes;		/* sum over ties of t^3 - t */
	size_t *tie;		/* sizes of the runs of equal values */
	size_t n_ties;
};

static int pairs_count(struct pairs *s, const double *a, size_t n_a, const double *b, size_t n_b)
{
	size_t at_a = 0, at_b = 0, below_b = 0;
	struct tie t;

	*s = (struct pairs){ .n_a = n_a, .n_b = n_b };
	s->tie = array_new(n_a + n_b, sizeof *s->tie);
	if (!s->tie)
		return -ENOMEM;
	while (next_tie(&t, a, n_a, &at_a, b, n_b, &at_b)) {
		double size = t.in_a + t.in_b;

		s->tie[s->n_ties++] = t.in_a + t.in_b;
		s->twice_u += 2 * t.in_a * below_b + t.in_a * t.in_b;
		s->cubes += size * size * size - size;
		below_b += t.in_b;
	}
	return 0;
}

/*
 * Without ties: the number of orders with u pairs, for u up to most, are the coefficients of
 * the product of (1 - q^(larger + i)) / (1 - q^i), i up to smaller.
 */
static double orders_up_to(double *count, size_t smaller, size_t larger, size_t most)
{
	double sum = 0;

	for (size_t u = 0; u <= most; u++)
		count[u] = !u;
	for (size_t i = 1; i <= smaller; i++) {
		for (size_t u = most + 1; u-- > larger + i;)
			count[u] -= count[u - larger - i];
		for (size_t u = i; u <= most; u++)
			count[u] += count[u - i];
	}
	for (size_t u = 0; u <= most; u++)
		sum += count[u];
	return sum;
}

/*
 * With ties, one run after the other: row k of count has the number of orders with k values of
 * the first sample so far, by twice the number of pairs. Rows are processed from the last to
 * the first, because each adds to later rows.
 */
static void add_run(double *count, size_t width, size_t n, size_t before, size_t run)
{
	for (size_t k = MIN(n, before) + 1; k-- > 0;) {
		const double *from = count + k * width;
		double ways = 1;

		for (size_t j = 1; j <= run && k + j <= n; j++) {
			size_t more = j * (2 * (before - k) + run - j);
			double *to = count + (k + j) * width;

			ways *= (double)(run - j + 1) / j;
			for (size_t u = more; u < width; u++)
				to[u] += ways * from[u - more];
		}
	}
}

static double tied_orders_up_to(double *count, const struct pairs *s, size_t n, bool downwards,
				size_t width)
{
	size_t before = 0;
	double sum = 0;

	for (size_t i = 0; i < (n + 1) * width; i++)
		count[i] = !i;
	for (size_t i = 0; i < s->n_ties; i++) {
		size_t run = s->tie[downwards ? s->n_ties - 1 - i : i];

		add_run(count, width, n, before, run);
		before += run;
	}
	for (size_t u = 0; u < width; u++)
		sum += count[n * width + u];
	return sum;
}

/*
 * The tail of the sample with fewer pairs than expected. The smaller sample is the one that is
 * enumerated; it may have to be enumerated downwards.
 */
struct tail {
	size_t smaller, larger;
	bool downwards, tied;
	uint64_t twice_u;
};

static struct tail tail_of(const struct pairs *s)
{
	uint64_t all = 2 * (uint64_t)s->n_a * s->n_b;
	bool a_is_low = s->twice_u <= all / 2, a_is_smaller = s->n_a <= s->n_b;

	return (struct tail){
		.smaller = a_is_smaller ? s->n_a : s->n_b,
		.larger = a_is_smaller ? s->n_b : s->n_a,
		.downwards = a_is_low != a_is_smaller,
		.tied = s->n_ties < s->n_a + s->n_b,
		.twice_u = a_is_low ? s->twice_u : all - s->twice_u,
	};
}

static bool can_be_exact(const struct tail *t)
{
	double steps = t->tied ? (double)(t->smaller + t->larger) * t->smaller * (t->twice_u + 1) :
		       (double)t->smaller * (t->twice_u + 2);

	return steps <= EXACT_STEPS;
}

static int exact_p(double *p, const struct pairs *s, const struct tail *t)
{
	size_t cells = t->tied ? (t->smaller + 1) * (t->twice_u + 1) : t->twice_u / 2 + 1;
	double *count = array_new(cells, sizeof *count), orders;

	if (!count)
		return -ENOMEM;
	if (t->tied)
		orders = tied_orders_up_to(count, s, t->smaller, t->downwards, t->twice_u + 1);
	else
		orders = orders_up_to(count, t->smaller, t->larger, t->twice_u / 2);
	free(count);
	*p = 2 * exp(log(orders) - stats_ln_choose(s->n_a + s->n_b, t->smaller));
	return 0;
}

/* With the continuity correction of half a pair. */
static double normal_p(const struct pairs *s, const struct tail *t)
{
	double n_a = s->n_a, n_b = s->n_b, n = n_a + n_b;
	double variance = n_a * n_b / 12 * (n + 1 - s->cubes / (n * (n - 1)));
	double below = 0.5 * (n_a * n_b - t->twice_u) - 0.5;

	return variance > 0 ? 2 * stats_normal_tail(below / sqrt(variance)) : 1;
}

static int find_p(double *p, const double *a, size_t n_a, const double *b, size_t n_b, bool exact)
{
	struct pairs s;
	struct tail t;
	int r;

	*p = 1;
	if (!n_a || !n_b)
		return 0;
	r = pairs_count(&s, a, n_a, b, n_b);
	if (r)
		return r;
	t = tail_of(&s);
	if (s.n_ties > 1 && exact && can_be_exact(&t))
		r = exact_p(p, &s, &t);
	else if (s.n_ties > 1)
		*p = normal_p(&s, &t);
	if (*p > 1)
		*p = 1;
	free(s.tie);
	return r;
}

int utest_p(double *p, const double *a, size_t n_a, const double *b, size_t n_b)
{
	return find_p(p, a, n_a, b, n_b, true);
}

int utest_p_normal(double *p, const double *a, size_t n_a, const double *b, size_t n_b)
{
	return find_p(p, a, n_a, b, n_b, false);
}

/* How many of n_a * n_b sorted differences are outside the interval on each side: the most
 * with a probability below miss. SIZE_MAX: even the outermost difference is too likely. */
static int differences_beyond(size_t *beyond, size_t n_a, size_t n_b, double miss)
{
	size_t smaller = MIN(n_a, n_b), larger = MAX(n_b, n_a);
	size_t most = n_a * n_b / 2;
	double *count, orders = 0, all = stats_ln_choose(n_a + n_b, n_a);

	if ((double)smaller * most * 2 > EXACT_STEPS) {
		double sd = sqrt((double)n_a * n_b / 12 * (n_a + n_b + 1));

		*beyond = fmax(0, floor(most - 0.5 - sd * stats_normal_quantile(miss)));
		return 0;
	}
	count = array_new(most + 1, sizeof *count);
	if (!count)
		return -ENOMEM;
	orders_up_to(count, smaller, larger, most);
	*beyond = SIZE_MAX;
	for (size_t u = 0; u <= most; u++) {
		orders += count[u];
		if (!(log(orders) - all <= log(miss)))
			break;
		*beyond = u;
	}
	free(count);
	return 0;
}

/* Doubles as integers in the same order, adjacent ones adjacent. */
static int64_t rank_of_double(double x)
{
	int64_t bits;

	memcpy(&bits, &x, sizeof bits);
	return bits ^ ((bits >> 63) & INT64_MAX);
}

static double double_of_rank(int64_t rank)
{
	int64_t bits = rank ^ ((rank >> 63) & INT64_MAX);
	double x;

	memcpy(&x, &bits, sizeof x);
	return x;
}

static size_t differences_up_to(const double *a, size_t n_a, const double *b, size_t n_b, double most)
{
	size_t count = 0, j = 0;

	for (size_t i = 0; i < n_a; i++) {
		while (j < n_b && b[j] - a[i] <= most)
			j++;
		count += j;
	}
	return count;
}

/* The k-th smallest difference, from 0, without a list of all of them. */
static double difference(const double *a, size_t n_a, const double *b, size_t n_b, size_t k)
{
	int64_t low = rank_of_double(b[0] - a[n_a - 1]), high = rank_of_double(b[n_b - 1] - a[0]);

	while (low < high) {
		int64_t middle = low + (int64_t)(((uint64_t)high - (uint64_t)low) / 2);

		if (differences_up_to(a, n_a, b, n_b, double_of_rank(middle)) > k)
			high = middle;
		else
			low = middle + 1;
	}
	return double_of_rank(low) + 0.0;	/* no negative zero */
}

int utest_shift(double *shift, struct interval *in, const double *a, size_t n_a,
		const double *b, size_t n_b, double confidence)
{
	size_t n = n_a * n_b, beyond;
	double middle;
	int r;

	*shift = NAN;
	*in = (struct interval){ -INFINITY, INFINITY };
	if (!n)
		return 0;
	r = differences_beyond(&beyond, n_a, n_b, 0.5 * (1 - confidence));
	if (r)
		return r;
	middle = difference(a, n_a, b, n_b, n / 2);
	if (n % 2 == 0)
		middle = 0.5 * middle + 0.5 * difference(a, n_a, b, n_b, n / 2 - 1);
	*shift = middle;
	if (beyond < n / 2)
		*in = (struct interval){ difference(a, n_a, b, n_b, beyond),
					 difference(a, n_a, b, n_b, n - 1 - beyond) };
	return 0;
}
