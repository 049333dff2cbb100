/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_STATS_DECIDE_H
#define BUILDBEAT_STATS_DECIDE_H

#include "stats/stats.h"

/*
 * Decides which of two levels a build has, that of the good builds or that of the bad ones, or
 * whether it must be measured again. Runs are expensive, so the test is sequential: it is
 * repeated after each run and stops as soon as it is certain.
 *
 * If all values are above 0, their logarithms are used; otherwise values are divided by the
 * largest. All three samples have noise of the same unknown size, and the two levels are
 * known only from their samples. The odds are those of the two hypotheses, integrated over
 * everything unknown. Noise has Student's distribution with 4 degrees of freedom, so that
 * one disturbed run neither moves a level nor decides.
 */
struct sample {
	const double *v;	/* finite */
	size_t n;
};

/* ln of the odds that a sample has bad's level and not good's, with equal prior odds. good
 * and bad need two values or more. Returns 0 or -ENOMEM. */
int decide_odds(double *ln_odds, struct sample good, struct sample bad, struct sample sample);

enum decision {
	DECIDE_UNSURE,		/* measure again */
	DECIDE_GOOD,
	DECIDE_BAD,
};

#define DECIDE_RUNS 2		/* minimum before a decision */

/* Decides by these odds. error: accepted share of wrong decisions. */
enum decision decide(double ln_odds, size_t runs, double error);

/* Whether good and bad have different levels. */
enum levels {
	LEVELS_UNSURE,
	LEVELS_SAME,		/* or differ by less than matters */
	LEVELS_DIFFER,
};

/* A difference matters if it reaches both, a share and an amount in the values' unit, and one of
 * the medians reaches the floor. */
struct matters {
	double share, amount, floor;
};

/* Why levels do not differ. */
enum hidden {
	HIDDEN_NOT,
	HIDDEN_BY_FLOOR,
	HIDDEN_BY_SHARE, HIDDEN_BY_AMOUNT,	/* whichever is larger here */
	HIDDEN_BY_NOISE,	/* larger than the difference */
};

struct apart {
	enum levels levels;
	double good, bad;	/* medians */
	double effect;		/* as a share of good */
	struct interval in;	/* of effect, confidence 1 - error; infinite if unknown */
	enum hidden hidden;
};

/* error: of this one test. Returns 0 or -ENOMEM. */
int decide_apart(struct apart *a, struct sample good, struct sample bad,
		 const struct matters *matters, double error);

/* The probability that another run of good is at least as far from it as value. */
double decide_surprise(struct sample good, struct sample bad, double value);

#endif
