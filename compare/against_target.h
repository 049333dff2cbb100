/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_COMPARE_AGAINST_TARGET_H
#define BUILDBEAT_COMPARE_AGAINST_TARGET_H

#include "compare/verdict.h"

/*
 * The builds of a target branch, then the recordings of the newest revision of another branch, which
 * are compared with them (merge.h). `first` is the first build of that branch.
 */

/* Removes the findings that surely began before: they are the target's own. Returns how many of
 * them failed the check. */
size_t against_keep_own(struct verdict *v, uint32_t first);

/*
 * What is worse than the target, but not confirmed: the suspects of a verdict, and other changes that
 * matter and that are improbable as noise. Their p, which is that of Student's t or the share
 * of the target's own values that deviate as far, is at most 0.05 for all series together.
 *
 * `more` further recordings would decide: so many that rules.agree can agree, and that the 95 %
 * interval of the change does not include the threshold; at most 10.
 */
struct against_undecided {
	uint32_t task;		/* or TASK_TOTAL */
	enum metric metric;
	bool suspect;		/* a finding of the verdict too */
	double before, now;	/* medians, in the metric's unit */
	uint32_t more;
};

struct against_list {
	size_t n;
	struct against_undecided *item;	/* by metric and task */
	uint32_t more;		/* the largest */
};

#define AGAINST_MORE_MAX 10

/* Returns 0 or a negative errno with err. Free list->item. */
int against_find_undecided(struct against_list *list, const struct verdict *v,
			   const struct builds *builds, const struct rules *rules, uint32_t first,
			   struct error *err);

#endif
