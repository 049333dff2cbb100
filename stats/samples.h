/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_STATS_SAMPLES_H
#define BUILDBEAT_STATS_SAMPLES_H

#include "stats/stats.h"

#include <stdbool.h>

/*
 * Two samples of the same value, before and after: whether they differ, by how much, and how
 * certain that is. Many pairs are tested together: they share an estimate of the noise, and
 * the results are adjusted for the number of tests.
 *
 * If all values of a pair are above 0, their logarithms are used; otherwise values are divided
 * by the median of base. A pair is tested by Student's test with a shrunk variance, because the
 * ranks of few values cannot reach significance among many pairs: with 10 values on each side
 * among 1,000. With at least SAMPLES_RANKED values on both sides it is tested by Mann and
 * Whitney's test too, which outliers hardly weaken: its p value is twice the smaller one.
 */
#define SAMPLES_RANKED 10

#define SAMPLES_CONFIDENCE 0.95	/* of intervals */

enum samples_verdict {
	VERDICT_UNKNOWN,	/* too few values */
	VERDICT_SAME,		/* no difference that matters */
	VERDICT_LOWER,
	VERDICT_HIGHER,
};

extern const char *const samples_verdict_word[VERDICT_HIGHER + 1];	/* "unknown" ... */

struct side {
	size_t n;
	double median;		/* NaN without values */
	struct interval in;
};

struct samples {
	struct side base, now;
	double p, adjusted_p;		/* Mann and Whitney's, two-sided, exact */
	double t_p, adjusted_t_p;	/* Student's; NaN without a variance */
	double rate;			/* lowest false discovery rate at which the pair differs, by
					   the tests that apply to it; NaN: not tested */
	double effect;			/* as a share, 0.1 is 10 % more; NaN: unknown */
	struct interval in;		/* of effect */
	enum samples_verdict verdict;

	/* private: on the scale on which values are compared */
	double step, variance, df, scale;
	bool ratios;
};

/* Compares one pair: sets everything except t_p, adjusted values and the verdict. Values that
 * are not finite are skipped. Returns 0 or -ENOMEM. */
int samples_compare(struct samples *s, const double *base, size_t n_base,
		    const double *now, size_t n_now);

struct samples_rules {
	double rate;		/* false discovery rate */
	double least_effect;	/* a smaller share does not matter */
};

/* Sets the remaining members of all pairs. Returns 0 or -ENOMEM. */
int samples_judge(struct samples *s, size_t n, const struct samples_rules *rules);

/*
 * The two steps of samples_judge(), for pairs with different noise. samples_moderate() sets t_p
 * of pairs that share an estimate of the noise; samples_adjust() then adjusts all pairs. 0 or
 * -ENOMEM.
 */
int samples_moderate(struct samples *s, size_t n);
int samples_adjust(struct samples *s, size_t n);

#endif
