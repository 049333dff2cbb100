/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ARCHIVE_NOTES_H
#define BUILDBEAT_ARCHIVE_NOTES_H

#include "base/error.h"

#include <git2.h>

/*
 * The notes on builds: git's own, so that `git notes --ref=buildbeat show` has them and
 * others may be written by hand. What they say is in notes_text.h. Private to archive.
 */
#define NOTES_REF "refs/notes/buildbeat"

/*
 * What two writers made of the notes, one commit: of every note the lines of both but those
 * that one of them took out. merged is ours or theirs where that has all of the other already,
 * and the same whoever merges them. Nothing is set to it. 0 or a negative errno with err.
 */
int notes_merge(git_oid *merged, git_repository *repo, const git_oid *ours,
		const git_oid *theirs, struct error *err);

/*
 * The text of the note on from goes, with what is on to already, to that; from keeps it.
 * *notes is the commit of the notes before (zero: none) and then after it; only the caller
 * sets the reference. For builds that are written anew.
 */
int notes_copy(git_oid *notes, git_repository *repo, const git_oid *from, const git_oid *to,
	       struct error *err);

#endif
