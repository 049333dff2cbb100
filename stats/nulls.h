/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_STATS_NULLS_H
#define BUILDBEAT_STATS_NULLS_H

#include <stddef.h>

/*
 * The distribution of a statistic while nothing changes, from all series at earlier builds, and
 * the probability of a larger one. A statistic is the logarithm of a likelihood ratio divided
 * by the number of ratios tried. It exceeds v with a probability of at most exp(-v) if the
 * density is right. Beyond the largest 1 % of the counted values an exponential distribution
 * extrapolates. Its tail is never thinner than that of the values, or than so few of them
 * can show.
 */
#define NULLS_STEP 0.125
#define NULLS_BINS 512		/* from 0; the last one has everything above */

struct nulls {
	double n;
	double bin[NULLS_BINS];
	/* Once finished: */
	double above[NULLS_BINS];	/* in the bin or above */
	double from, share, excess;	/* of the exponential */
	double most;		/* the largest value counted */
};

static inline void nulls_add(struct nulls *t, float v)
{
	t->bin[!(v > 0) ? 0 : v < (NULLS_BINS - 1) * NULLS_STEP ? (size_t)(v / NULLS_STEP) :
	       NULLS_BINS - 1]++;
	t->n++;
}

/* Halves the weight of what was counted so far. */
void nulls_fade(struct nulls *t);

void nulls_finish(struct nulls *t);

/* Of a finished struct: the probability of at least v. */
double nulls_p(const struct nulls *t, double v);

#endif
