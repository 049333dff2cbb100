/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_REVISIONS_H
#define BUILDBEAT_REPORT_REVISIONS_H

#include "compare/builds.h"

/*
 * Between which revisions of a source tree a change lies: what the last build had that is
 * surely before it, and the last that it may have begun with. A build that did not know its
 * revisions is passed over for the one before, or behind.
 */
struct revisions_range {
	const char *source;
	const struct revision *from, *to;	/* NULL: not known */
};

/* Of the i-th tree; false: there are no more. first and last are builds as of struct change. */
bool revisions_range(struct revisions_range *range, const struct builds *builds, uint32_t first,
		    uint32_t last, size_t i);

/* The next from the *i-th tree on that ends with a known revision and is not empty. */
bool revisions_range_next(struct revisions_range *range, const struct builds *builds,
			  uint32_t first, uint32_t last, size_t *i);

/* How many commits it has, -1: not known. */
int64_t revisions_range_commits(const struct revisions_range *range);

/* It is the same one, without anything that was not committed. */
bool revisions_range_is_empty(const struct revisions_range *range);

#endif
