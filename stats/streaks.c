/* SPDX-License-Identifier: MIT */
#include "stats/streaks.h"

#include "stats/distribution.h"

#include <math.h>

#define PRIOR 20		/* runs that a factor without any counts as */
#define NEXT 0.95		/* exponent of a factor by the one before */
#define FIRST 0.95		/* and of the second by the first, times what is counted */
#define LEAST_ALIKE 0.3
#define ENOUGH 30		/* runs that show how alike values are */
#define FAR 0.15			/* share of the values that are so far off */

static size_t bin_of(double off)
{
	return !(off > 0) ? 0 : off < (STREAKS_BINS - 1) * STREAKS_STEP ? (size_t)(off / STREAKS_STEP) :
	       STREAKS_BINS - 1;
}

void streaks_add(struct streaks *c, const float least[STREAKS_MOST], size_t n)
{
	for (size_t i = 0; i < n; i++) {
		c->bin[i][bin_of((double)least[i])]++;
		c->n[i]++;
	}
}

void streaks_fade(struct streaks *c)
{
	for (size_t i = 0; i < STREAKS_MOST; i++) {
		c->n[i] *= 0.5;
		for (size_t b = 0; b < STREAKS_BINS; b++)
			c->bin[i][b] *= 0.5;
	}
}

static double first_of(const struct streaks *c, size_t bin)
{
	return (c->above[0][bin] + 1) / (c->n[0] + 1);
}

void streaks_finish(struct streaks *c, double most)
{
	c->alike = most;
	for (size_t i = 0; i < STREAKS_MOST; i++) {
		double sum = 0;

		for (size_t b = STREAKS_BINS; b-- > 0; )
			c->above[i][b] = sum += c->bin[i][b];
	}
	for (size_t b = STREAKS_BINS; c->n[1] > 0 && b-- > 0; ) {
		double next;

		if (c->above[1][b] < ENOUGH || first_of(c, b) >= FAR)
			continue;
		next = c->above[1][b] / c->n[1] / first_of(c, b);
		if (next < 1)
			c->alike = fmax(LEAST_ALIKE, fmin(c->alike, log(next) / log(first_of(c, b))));
	}
}

double streaks_p(const struct streaks *c, double off, size_t k, int at_once)
{
	size_t bin = bin_of(off);
	double least = pow(stats_normal_tail(off), at_once);
	double p = fmax(first_of(c, bin), least), next = pow(p, FIRST * c->alike);

	for (size_t i = 1; i < k && i < STREAKS_MOST; i++) {
		double runs = c->above[i - 1][bin] * (c->n[i - 1] > 0 ? c->n[i] / c->n[i - 1] : 0);

		next = (c->above[i][bin] + PRIOR * next) / (runs + PRIOR);
		next = fmin(1, fmax(least, next));
		p *= next;
		next = pow(next, NEXT);
	}
	return fmin(1, p);
}
