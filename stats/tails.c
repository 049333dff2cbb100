/* SPDX-License-Identifier: MIT */
#include "stats/tails.h"

#include <math.h>

#define FAR 2			/* deviations whose pairs are counted */
#define OUT 4			/* deviations that normal noise seldom has */
#define FEWEST_FAR 10		/* builds from which the power is estimated */
#define BEFORE_ALL 100		/* prior: one build of this many is off by any distance */

static size_t bin_of(double off)
{
	double bin = off / TAILS_STEP;

	return bin < TAILS_BINS - 1 ? (size_t)bin : TAILS_BINS - 1;
}

void tails_add(struct tails *t, const double *off, size_t n)
{
	size_t out = 0;

	for (size_t i = 0; i < n; i++) {
		if (off[i] > 0)
			t->bin[bin_of(off[i])]++;
		out += off[i] >= OUT;
		if (i && off[i] >= FAR && off[i - 1] >= FAR)
			t->doubled++;
	}
	t->builds += n;
	t->pairs += n ? n - 1 : 0;
	t->out += out;
	t->squares += (double)out * (double)out - (double)out;
	t->chances += (double)n * (double)n - (double)n;
}

void tails_merge(struct tails *into, const struct tails *t)
{
	for (size_t i = 0; i < TAILS_BINS; i++)
		into->bin[i] += t->bin[i];
	into->builds += t->builds;
	into->pairs += t->pairs;
	into->doubled += t->doubled;
	into->out += t->out;
	into->squares += t->squares;
	into->chances += t->chances;
}

/*
 * If every series were far out equally often, two builds of one series would both be with the
 * square of that share. The excess is the correlation within a series of a beta-binomial
 * distribution. It says from how many builds a series' own history outweighs all series.
 */
static double strength_of(const struct tails *t)
{
	double share = t->builds ? (double)t->out / t->builds : 0;
	double both = t->chances > 0 ? t->squares / t->chances : 0, alike;

	if (!(share > 0 && share < 1))
		return INFINITY;
	alike = (both - share * share) / (share * (1 - share));
	if (alike <= 0)
		return INFINITY;
	return alike < 1 ? 1 / alike - 1 : 0;
}

/* One pair more than seen, and the pairs expected by chance: few builds say little. */
static double another_of(const struct tails *t, double far)
{
	double both;

	if (!(far > 0 && far < 1))
		return 1;
	both = (t->doubled + 1) / (t->pairs + 1 / (far * far));
	return fmax(0, fmin(1, log(both) / log(far) - 1));
}

/*
 * Far out there are too few builds to count. Beyond the root of all builds, their number is
 * modelled as a power of the distance, estimated by the mean logarithm (Hill 1975).
 */
static void find_power(struct tails *t)
{
	double most = fmax(FEWEST_FAR, sqrt((double)t->builds)), sum = 0;
	size_t from = TAILS_BINS - 1;

	while (from > 1 && t->bin[from] < most)
		from--;
	t->beyond = from * TAILS_STEP;
	for (size_t i = from; i < TAILS_BINS; i++) {
		size_t here = t->bin[i] - (i + 1 < TAILS_BINS ? t->bin[i + 1] : 0);

		sum += here * log((i + 0.5) / from);
	}
	t->power = sum > 0 ? t->bin[from] / sum : 0;
}

void tails_finish(struct tails *t)
{
	for (size_t i = TAILS_BINS - 1; i-- > 0; )
		t->bin[i] += t->bin[i + 1];
	find_power(t);
	t->strength = strength_of(t);
	t->another = another_of(t, t->builds ? (double)t->bin[bin_of(FAR)] / t->builds : 0);
}

static double share_of_all(const struct tails *t, double off)
{
	size_t n = t->bin[bin_of(fmax(fmin(off, t->beyond), 0))];
	double share = t->builds ? (double)n / t->builds : 0;

	return off > t->beyond ? share * pow(off / t->beyond, -t->power) : share;
}

double tails_share(const struct tails *t, double off, const double *own, size_t n)
{
	double all = share_of_all(t, off);
	size_t mine = 0;

	if (isinf(t->strength) || !n)
		return all;
	for (size_t i = 0; i < n; i++)
		mine += own[i] >= off;
	return (mine + t->strength * all) / (n + t->strength);
}

double tails_running(const struct tails *t, double p, size_t builds)
{
	if (builds < 2)
		return p;
	return pow(fmax(p, 1.0 / (t->builds + BEFORE_ALL)), 1 + (builds - 1) * t->another);
}
