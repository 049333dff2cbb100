/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ARCHIVE_REWRITE_H
#define BUILDBEAT_ARCHIVE_REWRITE_H

#include "archive/writing.h"

/* A list of commits, the oldest first. */
struct rewrite_commits {
	size_t n;
	git_oid *id;
};

/* Lists tip and its first parents, except commits that one of the n hidden ones reaches (all zero:
 * none). Returns 0 or a negative errno with err. Always release. */
int rewrite_list(struct rewrite_commits *list, struct archive *a, const git_oid *tip,
		 const git_oid *hidden, size_t n, struct error *err);
void rewrite_release(struct rewrite_commits *list);

/*
 * Rewrites builds onto another parent (all zero: none), with the same trees, messages and times, so
 * that the ids do not depend on who does it. *tip is that parent and becomes the last commit.
 * Notes are copied; *notes is the commit of the notes (all zero: none) before and after it.
 */
int rewrite_onto(struct writing *w, const git_oid *id, size_t n, git_oid *tip, git_oid *notes,
		 struct error *err);

#endif
