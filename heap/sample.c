/* SPDX-License-Identifier: MIT */
/* Without libm, which a preloaded object would load into programs that do not have it. */
#include "heap/sample.h"

#include "heap/image.h"

#include <string.h>

#define LN_2 0.693147180559945309417

/* splitmix64: any state is good. */
static uint64_t next_random(uint64_t *random)
{
	uint64_t x = *random += 0x9e3779b97f4a7c15;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
	x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
	return x ^ (x >> 31);
}

/* The natural logarithm of a number above 0, which is not denormal. */
static double logarithm(double x)
{
	uint64_t bits;
	int exponent;
	double m, s, square, term, sum = 0;

	memcpy(&bits, &x, sizeof bits);
	exponent = (int)(bits >> 52) - 1023;
	bits = (bits & 0xfffffffffffff) | (uint64_t)1023 << 52;
	memcpy(&m, &bits, sizeof m);
	if (m > 1.41421356237309504880) {
		m /= 2;
		exponent++;
	}
	term = s = (m - 1) / (m + 1);	/* at most 0.172 */
	square = s * s;
	for (int i = 1; i < 20; i += 2) {
		sum += term / i;
		term *= square;
	}
	return exponent * LN_2 + 2 * sum;
}

int64_t sample_distance(uint64_t *random, uint64_t period)
{
	double uniform = (double)((next_random(random) >> 11) + 1) / (double)((uint64_t)1 << 53);

	return (int64_t)(-logarithm(uniform) * (double)period);
}

/* 1 - exp(-x) for x from 0, exact also for small ones. */
static double one_less_exp(double x)
{
	double term = 1, sum = 0, power = 1;
	int halvings;

	if (x > 60)
		return 1;
	halvings = (int)(x / LN_2);
	x -= halvings * LN_2;
	for (int i = 1; i < 20; i++) {
		term *= -x / i;
		sum -= term;
	}
	for (; halvings; halvings--)
		power /= 2;
	return power == 1 ? sum : 1 - (1 - sum) * power;
}

struct sample_weight sample_weight(size_t size, uint64_t period)
{
	double bytes = (double)size, p, variance;

	if (!period)
		return (struct sample_weight){ .count = HEAP_UNIT, .bytes = size };
	p = one_less_exp(bytes / (double)period);
	variance = (bytes / 1024 / p) * (bytes / 1024 / p) * (1 - p);
	return (struct sample_weight){
		.count = (uint64_t)(HEAP_UNIT / p + 0.5),
		.bytes = (uint64_t)(bytes / p + 0.5),
		.variance = (uint64_t)(variance + 0.5),
	};
}
