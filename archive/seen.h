/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ARCHIVE_SEEN_H
#define BUILDBEAT_ARCHIVE_SEEN_H

#include "archive/repo.h"

/*
 * Which runs a branch has: so that one is not added twice, and so that adding
 * many in one go does not read all of the branch for each.
 */
struct seen;

void seen_free(struct seen *seen);	/* NULL is fine */

/* The build of a run on the branch ref, which is at tip now; all zero: there is none. */
int seen_find(struct archive *a, git_oid *build, const char *ref, const git_oid *tip,
	      const char *run, struct error *err);

#endif
