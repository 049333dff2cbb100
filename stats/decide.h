/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_STATS_DECIDE_H
#define BUILDBEAT_STATS_DECIDE_H

#include "stats/stats.h"

/*
 * Which of two levels does a build have whose figure was measured a few times: that of
 * the good ones or that of the bad ones, or has it to be measured once more. Runs are
 * dear, so each counts at once, and it is stopped as soon as it is sure.
 *
 * Values above 0 are taken by their logarithm, others in units of the
 * largest. All three samples have noise of one size, which nobody knows, and the two levels are
 * known by their samples only: the odds are those of the two hypotheses, with all
 * that is not known averaged out. Noise is Student's with 4 degrees of freedom: one run
 * disturbed by something else neither moves a level nor decides.
 */
struct sample {
	const double *v;	/* finite */
	size_t n;
};

/* ln of the odds that a sample is of bad's level and not of good's, before known to be
 * equally likely. good and bad have two values or more. 0 or -ENOMEM. */
int decide_odds(double *ln_odds, struct sample good, struct sample bad, struct sample sample);

enum decision {
	DECIDE_UNSURE,		/* once more */
	DECIDE_GOOD,
	DECIDE_BAD,
};

/* So many runs agree before anything is decided. */
#define DECIDE_RUNS 2

/* By those odds; error: share of decisions that may be wrong. */
enum decision decide(double ln_odds, size_t runs, double error);

/* Are good and bad two levels at all. */
enum levels {
	LEVELS_UNSURE,
	LEVELS_SAME,		/* if they differ then by less than matters */
	LEVELS_DIFFER,
};

/* What matters: both, a share and an amount in the values' unit. */
struct matters {
	double share, amount;
};

struct apart {
	enum levels levels;
	double good, bad;	/* medians */
	double effect;		/* as a share of good */
	struct interval in;	/* of it, with confidence 1 - error; infinite if not known */
};

/* error: of this one look. 0 or -ENOMEM. */
int decide_apart(struct apart *a, struct sample good, struct sample bad,
		 const struct matters *matters, double error);

/* How likely one more run of good would be as far from it as value is. */
double decide_surprise(struct sample good, struct sample bad, double value);

#endif
