/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_STATS_TAILS_H
#define BUILDBEAT_STATS_TAILS_H

#include <stddef.h>

/*
 * How often a night is how far off although nothing changed, as the nights of all
 * series of a metric were: what a distribution from a book leaves out is in here, the
 * odd night on which a task takes half as long again, and whether such nights come one after
 * the other. How far off is in standard deviations of the series, upwards; what is below is
 * another struct with the signs changed.
 */
#define TAILS_STEP (1.0 / 16)	/* as fine as they are told apart */
#define TAILS_BINS 1024		/* from 0 on; what is beyond goes into the last */

struct tails {
	size_t nights;		/* of all series */
	size_t bin[TAILS_BINS];	/* nights as far off, once finished: or farther */
	size_t pairs;		/* nights that had one of the same series before them */
	size_t doubled;		/* of those: both far off */
	/* Over series, of the nights on which they stick out. */
	size_t out;
	double squares, chances;
	/* Once finished. */
	double beyond, power;	/* from there on they become fewer by that power */
	double strength;	/* so many nights what all say is worth against a series' own */
	double another;		/* chances that the next night agrees: the power of the first's */
};

#define TAILS_INIT { 0 }

/* A series of n nights, in their order. */
void tails_add(struct tails *t, const double *off, size_t n);

/* Both added; what was finished cannot be. */
void tails_merge(struct tails *into, const struct tails *t);

void tails_finish(struct tails *t);

/* Of a finished one: how often a night of a series with these n nights is off so far. */
double tails_share(const struct tails *t, double off, const double *own, size_t n);

/* How often so many nights running are, if one is with a probability of p; which, for
 * several, is no smaller than the nights there were can tell. */
double tails_running(const struct tails *t, double p, size_t nights);

#endif
