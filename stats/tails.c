/* SPDX-License-Identifier: MIT */
#include "stats/tails.h"

#include <math.h>

#define FAR 2			/* for whether builds come in pairs: often enough to be counted */
#define OUT 4			/* noise as in the book seldom is */
#define FEWEST_FAR 10		/* builds that tell how fast they become fewer */
#define BEFORE_ALL 100		/* one build of so many may be off any distance, as far as one
				   knows before any was seen */

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
 * If every series sticks out as often as any other, two builds of one both do with the
 * square of that share. How much more often they do says how unlike series are (the
 * correlation within a series of a beta-binomial distribution), and from how many builds on
 * a series' own count for more than what all say.
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

/* Seen once more than it was, and so often that this would be by chance: few builds say little. */
static double another_of(const struct tails *t, double far)
{
	double both;

	if (!(far > 0 && far < 1))
		return 1;
	both = (t->doubled + 1) / (t->pairs + 1 / (far * far));
	return fmax(0, fmin(1, log(both) / log(far) - 1));
}

/*
 * Far out there are too few builds to count. From where the root of all builds is left, they are
 * taken to become fewer by a power of the distance, as the mean logarithm of theirs says
 * (Hill 1975).
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
	double share = t->builds ? (double)t->bin[bin_of(fmax(fmin(off, t->beyond), 0))] / t->builds : 0;

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
