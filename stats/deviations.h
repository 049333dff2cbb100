/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_STATS_DEVIATIONS_H
#define BUILDBEAT_STATS_DEVIATIONS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/*
 * How far values are from their level while nothing changes, counted over many series, and what
 * that says about a shift. Deviations are in standard deviations of their series. The density
 * has the spikes and heavy tails that the values have; a smooth one, Student's with 4 degrees
 * of freedom, counts as DEVIATIONS_PRIOR values and matters while there are few.
 *
 * Bins are of equal width in ln(1 + |z|), 16 for each doubling, up to 63; there is no difference
 * between larger ones.
 */
#define DEVIATIONS_SIDE 96
#define DEVIATIONS_BINS (2 * DEVIATIONS_SIDE)
#define DEVIATIONS_SHIFTS 16	/* from 1.2 to 60 standard deviations */
#define DEVIATIONS_PRIOR 50

struct deviations {
	double n;
	double count[DEVIATIONS_BINS];
	/* Once finished: */
	float ln[DEVIATIONS_BINS];	/* of the density */
	/* ln of the density after a shift, upwards and downwards, less that without one */
	float gain[2][DEVIATIONS_BINS][DEVIATIONS_SHIFTS];
};

static inline unsigned deviations_bin(float z)
{
	float far = 1 + fabsf(z);
	uint32_t bits, bin;

	memcpy(&bits, &far, sizeof bits);
	bin = (bits - 0x3f800000u) >> 19;
	bin = bin < DEVIATIONS_SIDE ? bin : DEVIATIONS_SIDE - 1;
	return z < 0 ? DEVIATIONS_SIDE - 1 - bin : DEVIATIONS_SIDE + bin;
}

static inline void deviations_add(struct deviations *d, float z)
{
	d->count[deviations_bin(z)]++;
	d->n++;
}

/* Halves the weight of what was counted so far. */
void deviations_fade(struct deviations *d);

void deviations_finish(struct deviations *d);

/* Of a finished struct: ln of the density at z. */
double deviations_ln(const struct deviations *d, double z);

/* How often a deviation is at least z, and with `down` at most -z; a part of the prior is counted. */
double deviations_share(const struct deviations *d, double z, int down);

/* The z below which this share of the counted values is; 0 without values. */
double deviations_quantile(const struct deviations *d, double share);

#endif
