/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_STATS_SAMPLES_H
#define BUILDBEAT_STATS_SAMPLES_H

#include "stats/stats.h"

#include <stdbool.h>

/*
 * Two samples of the same figure, before and after: are they different, by how much, and
 * how sure is that. Many such pairs are judged together, as each lends the others what it
 * knows of the noise, and as many tests find something by chance.
 *
 * Values above 0 are taken by their logarithm; if one of a pair is not, the pair's are
 * taken as they are, in units of what was before. A pair with SAMPLES_RANKED values or more
 * on both sides is judged by Mann and Whitney's test, a smaller one by Student's with the
 * variance shrunk: of 3 or 5 values a side, ranks alone never tell enough among
 * thousands of pairs.
 */
#define SAMPLES_RANKED 10

/* Intervals hold this often. */
#define SAMPLES_CONFIDENCE 0.95

enum samples_verdict {
	VERDICT_UNKNOWN,	/* too little to tell */
	VERDICT_SAME,		/* what difference there may be is too small to matter */
	VERDICT_LOWER,
	VERDICT_HIGHER,
};

extern const char *const samples_verdict_word[VERDICT_HIGHER + 1];	/* "unknown" ... */

struct side {
	size_t n;
	double median;		/* NaN of none */
	struct interval in;
};

struct samples {
	struct side base, now;
	double p, adjusted_p;		/* Mann and Whitney's, two-sided, exact */
	double t_p, adjusted_t_p;	/* Student's; NaN where there is no variance to go by */
	double effect;			/* as a share, 0.1: a tenth more; NaN: not known */
	struct interval in;		/* of it */
	enum samples_verdict verdict;

	/* what samples_judge() goes by: on the scale they are taken on */
	double step, variance, df, scale;
	bool ratios;
};

/* What is one pair by itself, all but what begins with adjusted_, t_ and the verdict.
 * Values that are not finite are left out. 0 or -ENOMEM. */
int samples_compare(struct samples *s, const double *base, size_t n_base,
		    const double *now, size_t n_now);

struct samples_rules {
	double rate;		/* of false ones among those told to differ */
	double least_effect;	/* as a share: a smaller one does not matter */
};

/* And the rest, of all of them. 0 or -ENOMEM. */
int samples_judge(struct samples *s, size_t n, const struct samples_rules *rules);

/*
 * Its two steps, for pairs of several kinds, whose noise is not alike: t_p of pairs that
 * lend each other what they know of it, then what begins with adjusted_ of all pairs.
 * The rate is that of the test a pair is judged by, NaN: not tested. 0 or -ENOMEM.
 */
int samples_moderate(struct samples *s, size_t n);
int samples_adjust(struct samples *s, size_t n);
double samples_rate(const struct samples *s);

#endif
