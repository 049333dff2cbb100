/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_STATS_CHAIN_H
#define BUILDBEAT_STATS_CHAIN_H

#include <stddef.h>

/*
 * How often values that follow each other are all far off while nothing changes, counted over many
 * series: for runs of 1 to CHAIN_MOST values how far the one is off that is off least. The
 * probability of a run is that of its first value, times that of each next one after so many. Each
 * factor is thus counted where values are plenty, and a run can be less probable than one in the
 * number of runs that were seen. A factor that few runs show is near the one before it.
 */
#define CHAIN_MOST 5
#define CHAIN_STEP 0.125
#define CHAIN_BINS 48		/* from 0; what is farther off says no more than a spike */

struct chain {
	double n[CHAIN_MOST];
	double bin[CHAIN_MOST][CHAIN_BINS];
	/* Once finished: */
	double above[CHAIN_MOST][CHAIN_BINS];	/* in the bin or above */
	double alike;		/* exponent of the second factor by the first, at least */
};

/* least[i]: of the newest i + 1 values, as a deviation in the direction of the chain. */
void chain_add(struct chain *c, const float least[CHAIN_MOST], size_t n);

/* Halves the weight of what was counted so far. */
void chain_fade(struct chain *c);

/* most: of `alike`, 1 if nothing is known. */
void chain_finish(struct chain *c, double most);

/* Of a finished struct: the probability of k values, at most CHAIN_MOST, that are all this far off:
 * at least that of normal values, of which so many are independent at the same time. */
double chain_p(const struct chain *c, double off, size_t k, int at_once);

#endif
