/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ARCHIVE_NOTES_H
#define BUILDBEAT_ARCHIVE_NOTES_H

#include "archive/git.h"
#include "base/error.h"

/*
 * The notes on builds are git notes: `git notes --ref=buildbeat show` prints them, and they can be
 * written by hand. notes_text.h describes their text. Private to archive.
 */
#define NOTES_REF "refs/notes/buildbeat"

/*
 * Merges the notes of two writers into one commit. Each note gets the lines of both, except those
 * that one of them removed. *merged is ours or theirs if it contains the other; otherwise it
 * depends only on the two. No reference is set. Returns 0 or a negative errno with err.
 */
int notes_merge(git_oid *merged, git_repository *repo, const git_oid *ours,
		const git_oid *theirs, struct error *err);

/*
 * Adds the note on `from` to that on `to`, for rewritten builds. *notes is the commit of the notes
 * (zero: none) before and after it; the caller sets the reference.
 */
int notes_copy(git_oid *notes, git_repository *repo, const git_oid *from, const git_oid *to,
	       struct error *err);

#endif
