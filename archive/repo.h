/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ARCHIVE_REPO_H
#define BUILDBEAT_ARCHIVE_REPO_H

#include "archive/archive.h"

#include <git2.h>

/*
 * The repository of an archive, for what is in this room. libgit2's objects are held no
 * longer than it takes to copy what is wanted from them: while git repacks, the repository
 * may have to be opened anew within any of these calls.
 */
struct archive {
	git_repository *git;
	char *path;		/* as it was named, for messages */
	struct remote *remote;	/* where it is a copy of a server's, remote.h */
	struct seen *seen;	/* runs that are known to be there, seen.h */
};

/* A path, not a URL. As archive_open(), into a that is all zero but for its path. */
int repo_open(struct archive *a, enum archive_use use, struct error *err);

/* err and the errno for what libgit2 did not do: "REPO: what: why". */
int repo_fail(const struct archive *a, int code, struct error *err, const char *what, ...)
	__attribute__((format(printf, 4, 5)));

/* What is in the repository by its id; `what` for messages. The caller frees it. */
int repo_commit(struct archive *a, git_commit **commit, const git_oid *id, struct error *err);
int repo_tree(struct archive *a, git_tree **tree, const git_oid *id, const char *what,
	      struct error *err);
int repo_blob(struct archive *a, git_odb_object **blob, const git_oid *id, const char *what,
	      struct error *err);

/* What ref is at; all zero: there is none. */
int repo_tip(struct archive *a, git_oid *id, const char *ref, struct error *err);

/* A blob of what was written, into a tree that is made. */
int repo_put(struct archive *a, git_treebuilder *tree, const char *name,
	     const struct buf *content, struct error *err);

/* Let a reference of that full name go from one commit (all zero: there is none) to another.
 * -EAGAIN: it was not there (any more). A lock that others have is waited for. */
int repo_set(struct archive *a, const char *name, const git_oid *from, const git_oid *to,
	     struct error *err);

/* The same of ref. */
int repo_move(struct archive *a, const char *ref, const git_oid *from, const git_oid *to,
	      struct error *err);

#endif
