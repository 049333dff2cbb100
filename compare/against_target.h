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
 * What is worse than the target, but not confirmed, so that the verdict is unknown: changes that matter
 * and that are improbable as noise, and the suspects of fewer recordings than must agree.
 *
 * The probability p is that of all recordings together: of any majority of them, that of the least
 * probable one. A recording's is Student's, with a variance that the tasks share, or the share of
 * the target's own values that deviate as far, whichever is larger. Common factors of all tasks
 * are removed from times first. A change of the build is that of the median recording, by
 * Student's t alone, because all recordings of an hour share what the machine does to the build.
 * It is left out where a task's explains it: its times are sums of theirs, and its memory one's.
 * p is at most 0.05 for all tasks together, and for all metrics of the build together.
 */
struct against_undecided {
	uint32_t task;		/* or TASK_TOTAL */
	enum metric metric;
	bool suspect;		/* a finding of the verdict too */
	double before, now;	/* medians, in the metric's unit */
	uint32_t more;		/* so many more recordings like these decide; 0: AGAINST_MORE_MAX do
				   not. Set by against_find_more() */
};

struct against_list {
	size_t n;
	struct against_undecided *item;	/* by metric and task */
	uint32_t more;		/* the largest */
	size_t n_stuck;		/* items that more recordings do not decide */
};

#define AGAINST_MORE_MAX 10

/* Returns 0 or a negative errno with err. Free list->item. */
int against_find_undecided(struct against_list *list, const struct verdict *v,
			   const struct builds *builds, const struct rules *rules, uint32_t first,
			   struct error *err);

#endif
