/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_STATS_TAILS_H
#define BUILDBEAT_STATS_TAILS_H

#include <stddef.h>

/*
 * How often a build deviates how far although nothing changed, measured on the builds of all
 * series of a metric. Unlike a textbook distribution it includes the odd build in which a
 * task takes half as long again, and whether such builds are consecutive. Deviations are in
 * standard deviations of the series, upwards. Downward ones are counted in another struct
 * with the signs changed.
 */
#define TAILS_STEP (1.0 / 16)	/* width of a bin */
#define TAILS_BINS 1024		/* from 0; the last one has everything above */

struct tails {
	size_t builds;		/* of all series */
	size_t bin[TAILS_BINS];	/* builds in it; once finished: in it or above */
	size_t pairs;		/* consecutive builds of a series */
	size_t doubled;		/* of those: both far off */
	/* Sums over series of the builds that are far out. */
	size_t out;
	double squares, chances;
	/* Once finished: */
	double beyond, power;	/* power law of the share above `beyond` */
	double strength;	/* weight of all series, in builds of a series' own */
	double another;		/* P(next one far off) = P(one far off) to this power */
};

#define TAILS_INIT { 0 }

/* A series of n builds, in their order. */
void tails_add(struct tails *t, const double *off, size_t n);

/* Adds t, which is not finished. */
void tails_merge(struct tails *into, const struct tails *t);

void tails_finish(struct tails *t);

/* Of a finished struct: how often a build of a series with these n builds deviates by at
 * least `off`. */
double tails_share(const struct tails *t, double off, const double *own, size_t n);

/* How often `builds` consecutive builds are, if one is with probability p. For several, p is at
 * least what the number of builds seen can show. */
double tails_running(const struct tails *t, double p, size_t builds);

#endif
