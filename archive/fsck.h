/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ARCHIVE_FSCK_H
#define BUILDBEAT_ARCHIVE_FSCK_H

#include "archive/repo.h"

/* Private to fsck*.c: archive_fsck() in progress. */
struct fsck {
	struct archive *a;
	struct archive_fsck *out;
	struct error *err;
	struct buf broken;	/* names of branches whose files are damaged, each with a NUL */
};

/* Reports a problem. */
void fsck_found(struct fsck *f, const char *what, ...) __attribute__((format(printf, 2, 3)));

/* Reports a lock that a repair does not remove. */
void fsck_remains(struct fsck *f, const char *what, ...) __attribute__((format(printf, 2, 3)));

/* Each of these checks one part, and mends it if out->repair. Return 0 or a negative errno with
 * err; fsck_left() also 1 if nothing else can be checked. */
int fsck_left(struct fsck *f);
int fsck_series(struct fsck *f, const char *name);
int fsck_notes(struct fsck *f);

/* All commits in the repository that can be read. */
struct fsck_commits {
	size_t n;
	struct fsck_commit {
		git_oid id, parent;
		int64_t start_s;
		bool has_place;		/* as a tip, or the parent of another one */
	} *commit;
};

int fsck_list_commits(struct fsck_commits *all, struct fsck *f);

/*
 * The next older commit of a series after one that cannot be read: a build of the same host, branch
 * and machine as `like` (all zero: as in the name ref) which began before before_s (-1: any time),
 * is neither a tip nor the parent of another commit, and has a run that is not known yet. All
 * zero: none.
 */
int fsck_find_older(struct fsck *f, git_oid *found, const struct fsck_commits *all, const char *ref,
		    const git_oid *like, int64_t before_s,
		    bool (*is_known)(const void *context, const git_oid *id, const char *run),
		    const void *context);

struct writing;

/* Adds what can be read of a commit to the tree of lost builds. */
int fsck_save(struct writing *w, git_treebuilder *lost, const git_oid *commit);

#endif
