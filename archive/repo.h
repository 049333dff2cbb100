/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ARCHIVE_REPO_H
#define BUILDBEAT_ARCHIVE_REPO_H

#include "archive/archive.h"
#include "archive/git.h"

#include <sys/types.h>

/*
 * The repository of an archive, for this room only. Objects of libgit2 are freed as soon as their
 * content is copied, because any of these calls may open the repository again while git repacks.
 */
struct archive {
	git_repository *git;
	char *path;		/* as given by the user, for messages */
	struct remote *remote;	/* of a copy of a server, remote.h */
	struct seen *seen;	/* runs that exist, seen.h */
	struct error skipped;	/* a branch whose name is not valid; or no message */
	bool fast;		/* ARCHIVE_WRITE_FAST */
	bool fsck;		/* ARCHIVE_FSCK */
};

/* As archive_open(), for a path. a has only its path set. */
int repo_open(struct archive *a, enum archive_use use, struct error *err);

/* Makes a repository if there is none: a->path does not exist, or is an empty directory. */
int repo_create(struct archive *a, struct error *err);

/* Sets the umask to what core.sharedRepository demands. Returns the one before, which the caller sets
 * again. */
mode_t repo_share(const struct archive *a);

/* While git repacks, objects move to other packs. Returns 0 or libgit2's code. */
int repo_reopen(struct archive *a);

/* Sets err to "REPO: what: libgit2's message" and returns the errno. */
int repo_fail(const struct archive *a, int code, struct error *err, const char *what, ...)
	__attribute__((format(printf, 4, 5)));

/* Read an object, which the caller frees. what: for messages. */
int repo_commit(struct archive *a, git_commit **commit, const git_oid *id, struct error *err);
int repo_tree(struct archive *a, git_tree **tree, const git_oid *id, const char *what,
	      struct error *err);
int repo_blob(struct archive *a, git_odb_object **blob, const git_oid *id, const char *what,
	      struct error *err);

/* The commit of ref, or all zero. */
int repo_tip(struct archive *a, git_oid *id, const char *ref, struct error *err);

/* Changes a reference, by its full name, from one commit (all zero: none) to another. Returns
 * -EAGAIN if it is not at `from`. Waits for locks of others. */
int repo_set(struct archive *a, const char *name, const git_oid *from, const git_oid *to,
	     struct error *err);

/* Removes a reference, by its full name, if it exists. */
int repo_remove(struct archive *a, const char *name, struct error *err);

/* As repo_set(), for a series. */
int repo_move(struct archive *a, const char *ref, const git_oid *from, const git_oid *to,
	      struct error *err);

#endif
