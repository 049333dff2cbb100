/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ARCHIVE_SEEN_H
#define BUILDBEAT_ARCHIVE_SEEN_H

#include "archive/repo.h"

/*
 * A cache of the runs in a branch, so that no run is added twice, and adding many builds does not
 * read the whole branch for each.
 */
struct seen;

void seen_free(struct seen *seen);	/* seen may be NULL */

/* The build of a run on the branch ref, whose commit is tip; all zero: none. */
int seen_find(struct archive *a, git_oid *build, const char *ref, const git_oid *tip,
	      const char *run, struct error *err);

#endif
