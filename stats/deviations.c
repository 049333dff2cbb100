/* SPDX-License-Identifier: MIT */
#include "stats/deviations.h"

#include "stats/distribution.h"

#define NARROW 2.5		/* widths of the kernels, in bins */
#define WIDE 14.0
#define WIDE_PART 0.1		/* of the wide kernel, less if there are many values */
#define MANY 2000
#define REACH 4			/* kernels end after so many widths */
#define LEAST_MASS 5e-8		/* of a bin */
#define LEAST_SHIFT 1.2
#define MOST_SHIFT 60.0

/* The lower edge of bin i of one side. */
static double edge(unsigned i)
{
	uint32_t bits = 0x3f800000u + (i << 19);
	float far;

	memcpy(&far, &bits, sizeof far);
	return (double)far - 1;
}

/* The lower edge of a bin. */
static double low_of(unsigned bin)
{
	return bin < DEVIATIONS_SIDE ? -edge(DEVIATIONS_SIDE - bin) : edge(bin - DEVIATIONS_SIDE);
}

static double centre_of(unsigned bin)
{
	return 0.5 * (low_of(bin) + low_of(bin + 1));
}

static void smooth(double *to, const double *count, double width, double weight)
{
	int reach = (int)(REACH * width);
	double kernel[DEVIATIONS_BINS], sum = 0;

	for (int d = 0; d <= reach; d++) {
		kernel[d] = exp(-0.5 * d * d / (width * width));
		sum += (d ? 2 : 1) * kernel[d];
	}
	for (int i = 0; i < DEVIATIONS_BINS; i++) {
		if (!(count[i] > 0))
			continue;
		for (int d = -reach; d <= reach; d++) {
			if (i + d >= 0 && i + d < DEVIATIONS_BINS)
				to[i + d] += weight * count[i] * kernel[d < 0 ? -d : d] / sum;
		}
	}
}

/* The same for every struct. */
static const double *prior_mass(void)
{
	static _Thread_local double mass[DEVIATIONS_BINS];
	static _Thread_local int known;

	for (unsigned i = 0; !known && i < DEVIATIONS_SIDE; i++) {
		double p = stats_t_tail(edge(i), 4) - stats_t_tail(edge(i + 1), 4);

		mass[DEVIATIONS_SIDE + i] = mass[DEVIATIONS_SIDE - 1 - i] = p;
	}
	known = 1;
	return mass;
}

/* ln of the density between the centres of bins. */
static double between(const struct deviations *d, double z)
{
	unsigned bin = deviations_bin((float)z);
	double centre = centre_of(bin), other;
	unsigned next = z < centre ? bin - 1 : bin + 1;

	if (next >= DEVIATIONS_BINS)	/* also below 0 */
		return d->ln[bin];
	other = centre_of(next);
	return (double)d->ln[bin] +
	       (double)(d->ln[next] - d->ln[bin]) * (z - centre) / (other - centre);
}

void deviations_fade(struct deviations *d)
{
	d->n *= 0.5;
	for (int i = 0; i < DEVIATIONS_BINS; i++)
		d->count[i] *= 0.5;
}

void deviations_finish(struct deviations *d)
{
	const double *prior = prior_mass();
	double mass[DEVIATIONS_BINS] = { 0 }, wide = WIDE_PART / (1 + d->n / MANY);

	smooth(mass, d->count, NARROW, 1 - wide);
	smooth(mass, d->count, WIDE, wide);
	for (unsigned i = 0; i < DEVIATIONS_BINS; i++) {
		double share = (mass[i] + DEVIATIONS_PRIOR * prior[i]) / (d->n + DEVIATIONS_PRIOR);

		d->ln[i] = (float)log((share + LEAST_MASS) / (low_of(i + 1) - low_of(i)));
	}
	for (unsigned i = 0; i < DEVIATIONS_BINS; i++) {
		double z = centre_of(i);

		for (int s = 0; s < DEVIATIONS_SHIFTS; s++) {
			double shift = LEAST_SHIFT * pow(MOST_SHIFT / LEAST_SHIFT,
							 s / (DEVIATIONS_SHIFTS - 1.0));

			d->gain[0][i][s] = (float)(between(d, z - shift) - (double)d->ln[i]);
			d->gain[1][i][s] = (float)(between(d, z + shift) - (double)d->ln[i]);
		}
	}
}

double deviations_ln(const struct deviations *d, double z)
{
	return between(d, z);
}

double deviations_share(const struct deviations *d, double z, int down)
{
	double sum = 0;

	for (unsigned i = deviations_bin((float)z); i < DEVIATIONS_BINS; i++)
		sum += d->count[down ? DEVIATIONS_BINS - 1 - i : i];
	return (sum + DEVIATIONS_PRIOR * stats_t_tail(z, 4)) / (d->n + DEVIATIONS_PRIOR);
}

double deviations_quantile(const struct deviations *d, double share)
{
	double below = 0;

	for (unsigned i = 0; d->n > 0 && i < DEVIATIONS_BINS; i++) {
		double part = d->count[i] / d->n;

		if (part > 0 && below + part >= share)
			return low_of(i) + (low_of(i + 1) - low_of(i)) * (share - below) / part;
		below += part;
	}
	return 0;
}
