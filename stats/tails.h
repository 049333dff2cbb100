/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_STATS_TAILS_H
#define BUILDBEAT_STATS_TAILS_H

#include <stddef.h>

/*
 * How often a build is how far off although nothing changed, as the builds of all
 * series of a metric were: what a distribution from a book leaves out is in here, the
 * odd build on which a task takes half as long again, and whether such builds come one after
 * the other. How far off is in standard deviations of the series, upwards; what is below is
 * another struct with the signs changed.
 */
#define TAILS_STEP (1.0 / 16)	/* as fine as they are told apart */
#define TAILS_BINS 1024		/* from 0 on; what is beyond goes into the last */

struct tails {
	size_t builds;		/* of all series */
	size_t bin[TAILS_BINS];	/* builds as far off, once finished: or farther */
	size_t pairs;		/* builds that had one of the same series before them */
	size_t doubled;		/* of those: both far off */
	/* Over series, of the builds on which they stick out. */
	size_t out;
	double squares, chances;
	/* Once finished. */
	double beyond, power;	/* from there on they become fewer by that power */
	double strength;	/* so many builds what all say is worth against a series' own */
	double another;		/* chances that the next build agrees: the power of the first's */
};

#define TAILS_INIT { 0 }

/* A series of n builds, in their order. */
void tails_add(struct tails *t, const double *off, size_t n);

/* Both added; what was finished cannot be. */
void tails_merge(struct tails *into, const struct tails *t);

void tails_finish(struct tails *t);

/* Of a finished one: how often a build of a series with these n builds is off so far. */
double tails_share(const struct tails *t, double off, const double *own, size_t n);

/* How often so many builds running are, if one is with a probability of p; which, for
 * several, is no smaller than the builds there were can tell. */
double tails_running(const struct tails *t, double p, size_t builds);

#endif
