/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_REVISIONS_H
#define BUILDBEAT_REPORT_REVISIONS_H

#include "compare/builds.h"

/*
 * The revisions of a source tree between which a change lies: the last one that is surely before it,
 * and the last one that it can begin with. A build with unknown revisions is replaced by the
 * one before, or after.
 */
struct revisions_range {
	const char *source;
	const struct revision *from, *to;	/* NULL: unknown */
};

/* The range of the i-th tree, or false after the last one. first and last are those of struct
 * change. */
bool revisions_range(struct revisions_range *range, const struct builds *builds, uint32_t first,
		    uint32_t last, size_t i);

/* The next range, from the *i-th tree, that ends with a known revision and is not empty. */
bool revisions_range_next(struct revisions_range *range, const struct builds *builds,
			  uint32_t first, uint32_t last, size_t *i);

/* The number of its commits, -1: unknown. */
int64_t revisions_range_commits(const struct revisions_range *range);

/* Whether both revisions are the same, without uncommitted changes. */
bool revisions_range_is_empty(const struct revisions_range *range);

#endif
