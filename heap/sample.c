/* SPDX-License-Identifier: MIT */
#include "heap/sample.h"

#include "heap/image.h"

/* splitmix64: any state is good. */
static uint64_t next_random(struct sample_state *s)
{
	uint64_t x = s->random += 0x9e3779b97f4a7c15;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
	x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
	return x ^ (x >> 31);
}

/* A number below the period. */
static uint64_t choose_distance(struct sample_state *s, uint64_t period)
{
	return (uint64_t)((unsigned __int128)next_random(s) * period >> 64);
}

/* The distance to the next chosen byte from a byte of a stretch. taken: that of this stretch is
 * behind us. */
static int64_t distance(struct sample_state *s, uint64_t period, uint64_t from, int taken)
{
	s->chosen = choose_distance(s, period);
	if (!taken && s->chosen >= from)
		return (int64_t)(s->chosen - from);
	if (!taken)
		s->chosen = choose_distance(s, period);
	return (int64_t)(period - from + s->chosen);
}

int64_t sample_begin(struct sample_state *s, uint64_t period)
{
	/* anywhere in a stretch: what weights say of probabilities depends on it */
	return distance(s, period, choose_distance(s, period), 0);
}

int64_t sample_next(struct sample_state *s, uint64_t period, int64_t left)
{
	uint64_t end = s->chosen + (uint64_t)-left;

	return distance(s, period, end % period, end < period);
}

/*
 * That an allocation of x stretches, which begins anywhere in one, has a chosen byte. If less than
 * a stretch, it is in one, with the probability x, or in two. Then it misses both chosen bytes with
 * (1 - a) (1 - (x - a)), where a of it are in the first. This is the mean over all beginnings.
 */
static double probability(double x)
{
	if (x <= 1)
		return x - x * x * x / 6;
	return x < 2 ? 1 - (2 - x) * (2 - x) * (2 - x) / 6 : 1;
}

struct sample_weight sample_weight(size_t size, uint64_t period)
{
	double bytes = (double)size, p, kb;

	if (!period)
		return (struct sample_weight){ .count = HEAP_UNIT, .bytes = size };
	p = probability(bytes / (double)period);
	kb = bytes / 1024 / p;
	return (struct sample_weight){
		.count = (uint64_t)(HEAP_UNIT / p + 0.5),
		.bytes = (uint64_t)(bytes / p + 0.5),
		.variance = (uint64_t)(kb * kb * (1 - p) + 0.5),
	};
}
