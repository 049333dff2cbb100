/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_COMPARE_EVERYWHERE_H
#define BUILDBEAT_COMPARE_EVERYWHERE_H

#include "compare/verdict.h"

/*
 * The verdicts of several series as one. Changes of the same task, metric and direction are one
 * finding if the series are of one branch and the commits between which they began have one in
 * common. It remains in the verdict of one series, its home, and lists the others. What fails in one
 * series fails, so the home is the series with the strongest state, and of these the first.
 *
 * Suspects of several hosts at the same commits confirm each other: their rates are joined by
 * Fisher's method, and the joined rate must be at most rules.rate. Two series of one host are no
 * independent evidence, and the common factor of all tasks is no evidence either.
 */
struct everywhere_part {
	const struct builds *builds;
	struct verdict_finding finding;
};

struct everywhere_also {
	size_t n;
	const struct everywhere_part *part;	/* in the order of the series */
	bool joined;		/* suspects that confirmed each other */
};

struct everywhere_series {
	const struct builds *builds;
	struct verdict *verdict;
};

struct everywhere {
	size_t n_also;
	struct everywhere_also *also;
	struct everywhere_part *part;
};

/*
 * Moves findings: they get `also`, which belongs to e, and the others are removed; n_elsewhere of
 * their verdict counts those that failed. Returns 0 or -ENOMEM; always release e, after the
 * verdicts were used.
 */
int everywhere_join(struct everywhere *e, const struct everywhere_series *series, size_t n,
		    const struct rules *rules);
void everywhere_release(struct everywhere *e);

/*
 * Findings of the first series get `also`: the same changes in the others. Nothing moves and no state
 * changes. As above.
 */
int everywhere_mark(struct everywhere *e, const struct everywhere_series *series, size_t n);

#endif
