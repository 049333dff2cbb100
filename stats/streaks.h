/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_STATS_STREAKS_H
#define BUILDBEAT_STATS_STREAKS_H

#include <stddef.h>

/*
 * How often values that follow each other are all far off while nothing changes, counted over many
 * series: for streaks of 1 to STREAKS_MOST values, how far the one is off that is off least. The
 * probability of a streak is that of its first value, times that of each next one after the values
 * before it. Each factor is thus counted where values are plenty, and a streak can be less probable
 * than one in the number that were seen. A factor that few streaks show is near the one before it.
 */
#define STREAKS_MOST 5
#define STREAKS_STEP 0.125
#define STREAKS_BINS 48		/* from 0; what is farther off says no more than a spike */

struct streaks {
	double n[STREAKS_MOST];
	double bin[STREAKS_MOST][STREAKS_BINS];
	/* Once finished: */
	double above[STREAKS_MOST][STREAKS_BINS];	/* in the bin or above */
	double alike;		/* exponent of the second factor by the first, at least */
};

/* least[i]: of the newest i + 1 values, as a deviation in the direction that is counted. */
void streaks_add(struct streaks *c, const float least[STREAKS_MOST], size_t n);

/* Halves the weight of what was counted so far. */
void streaks_fade(struct streaks *c);

/* most: of `alike`, 1 if nothing is known. */
void streaks_finish(struct streaks *c, double most);

/* Of a finished struct: the probability of k values, at most STREAKS_MOST, that are all this far off.
 * It is at least that of normal values. If each value stands for at_once independent ones, all of
 * those are this far off. */
double streaks_p(const struct streaks *c, double off, size_t k, int at_once);

#endif
