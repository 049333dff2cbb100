/* SPDX-License-Identifier: MIT */
#include "tests/noise.h"

#include <math.h>

const char *const noise_name[NOISE_KINDS] = {
	[NOISE_NORMAL] = "Gaussian 3 %",
	[NOISE_SPIKES] = "lognormal, 2 % spikes",
	[NOISE_ALIKE] = "AR(1) 0.3",
	[NOISE_STUDENT] = "Student t3",
};

#define NOISE 0.03
#define ALIKE 0.3

/* splitmix64 */
double noise_uniform(struct noise *n)
{
	uint64_t z = n->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	z ^= z >> 31;
	return ((double)(z >> 11) + 0.5) / 9007199254740992.0;
}

double noise_normal(struct noise *n)
{
	double radius = sqrt(-2 * log(noise_uniform(n)));

	return radius * cos(2 * M_PI * noise_uniform(n));
}

static double student(struct noise *n)
{
	double squares = 0;

	for (int i = 0; i < 3; i++) {
		double x = noise_normal(n);

		squares += x * x;
	}
	return noise_normal(n) / sqrt(squares / 3);
}

void noise_series(struct noise *n, enum noise_kind kind, double *v, size_t len)
{
	double before = noise_normal(n);

	for (size_t i = 0; i < len; i++) {
		double x = kind == NOISE_STUDENT ? student(n) : noise_normal(n);

		if (kind == NOISE_ALIKE)
			before = x = ALIKE * before + sqrt(1 - ALIKE * ALIKE) * x;
		v[i] = 100 * exp(NOISE * x);
		if (kind == NOISE_SPIKES && noise_uniform(n) < 0.02)
			v[i] *= 1.3 - 0.1 * log(noise_uniform(n));
	}
}
