/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_TESTS_LABELLED_H
#define BUILDBEAT_TESTS_LABELLED_H

#include "tests/noise.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Series with known change points. The data is beside the source tree, and may be missing. */
#define LABELLED_LONGEST 200
#define LABELLED_STEPS 3

struct labelled {
	size_t n, n_steps;
	double v[LABELLED_LONGEST];
	uint32_t at[LABELLED_STEPS];
	double sigmas[LABELLED_STEPS];	/* size of the step, as a multiple of the noise */
	double sigma;			/* the noise, as a share */
};

struct labelled_set {
	size_t n;
	struct labelled *series;
};

/* False if there is no data. */
bool labelled_read(struct labelled_set *set);
void labelled_release(struct labelled_set *set);

/*
 * Unseen series: the noise of those in `from` whose steps are clear, in blocks of 3, 5 or 10
 * builds in a new order, with up to three new steps of 2 to 50 %.
 */
void labelled_draw(struct labelled_set *set, const struct labelled_set *from, size_t n,
		   uint64_t seed);

enum labelled_class { BELOW_1, FROM_1, FROM_3, FROM_6, LABELLED_CLASSES };

/* A change point is right if it is at most 3 builds from a step, one each. */
struct labelled_score {
	size_t right, wrong, missed;
	size_t steps[LABELLED_CLASSES], found[LABELLED_CLASSES];
	size_t quiet, wrong_in_quiet;	/* series without a step; change points in them */
	size_t covered;			/* of the right ones, how often the interval has the step */
};

/* 0 or a negative errno. */
int labelled_score(struct labelled_score *s, const struct labelled_set *set);
double labelled_f1(const struct labelled_score *s);

#endif
