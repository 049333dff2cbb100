/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_TESTS_NOISE_H
#define BUILDBEAT_TESTS_NOISE_H

#include <stddef.h>
#include <stdint.h>

/* Generated measurements, the same from the same seed on every machine. */
struct noise {
	uint64_t state;
};

double noise_uniform(struct noise *n);	/* in (0, 1) */
double noise_normal(struct noise *n);

/* Measurements of a task without a change: around 100, 3 % noise. */
enum noise_kind {
	NOISE_NORMAL,
	NOISE_SPIKES,		/* lognormal, one build in fifty is 30 % higher or more */
	NOISE_ALIKE,		/* correlated by 0.3 with the build before */
	NOISE_STUDENT,		/* Student's t with 3 degrees of freedom */
	NOISE_KINDS
};

extern const char *const noise_name[NOISE_KINDS];

void noise_series(struct noise *n, enum noise_kind kind, double *v, size_t len);

#endif
