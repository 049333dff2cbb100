/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_COMPARE_FIXED_BY_H
#define BUILDBEAT_COMPARE_FIXED_BY_H

#include "compare/verdict.h"

/*
 * Regressions that a revision was to fix. Their note holds until builds have the revision, and so
 * many more builds as it takes to see the level change back (rules.agree). What is still worse
 * then fails again.
 */

/* Whether the revision of a build has this commit, by its id or the first digits; false if unknown. */
struct fixed_by_history {
	bool (*has)(void *context, const struct revision *revision, const char *commit);
	void *context;
};

/* Sets `overdue` of the notes. history: NULL: only revisions that were built themselves are known. */
void fixed_by_find(struct known_list *list, const struct builds *builds, const struct rules *rules,
		   const struct fixed_by_history *history);

/* Sets `overdue` of the findings of a verdict that was made with these notes. */
void fixed_by_mark(struct verdict *v, const struct builds *builds, const struct known_list *list);

#endif
