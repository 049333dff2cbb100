/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ARCHIVE_REWRITE_H
#define BUILDBEAT_ARCHIVE_REWRITE_H

#include "archive/repo.h"

/* A line of commits, the oldest first. */
struct rewrite_commits {
	size_t n;
	git_oid *id;
};

/* The first parents of tip down to, and without, what is reachable from any of the n hidden ones
 * (all zero: nothing). 0 or a negative errno with err; always release. */
int rewrite_list(struct rewrite_commits *line, struct archive *a, const git_oid *tip,
		 const git_oid *hidden, size_t n, struct error *err);
void rewrite_release(struct rewrite_commits *line);

/*
 * Builds written anew on another parent (all zero: none): the same trees, messages and times, so
 * the same ids whoever does it. *tip is that parent and becomes the last of them; what was
 * said about them is copied, *notes (all zero: none) becomes the commit of that.
 */
int rewrite_onto(struct archive *a, const git_oid *id, size_t n, git_oid *tip, git_oid *notes,
		 struct error *err);

#endif
