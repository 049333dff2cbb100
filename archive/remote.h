/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ARCHIVE_REMOTE_H
#define BUILDBEAT_ARCHIVE_REMOTE_H

#include "archive/repo.h"

/*
 * An archive on a server: a bare copy in the user's cache directory, which is read and written like
 * any other archive. It has
 *	refs/heads/REF			the server's commits, and on top of them the builds that
 *					were not pushed yet
 *	refs/buildbeat/server/heads/REF	the server's commit when it was asked last
 *	refs/buildbeat/agreed/heads/REF	the server's commit that the branch contains
 * and the same for the notes. Commits that are in neither of the last two are pushed with the next
 * build. If the server has new commits, they are rewritten on top of those, except runs that
 * the server has already. A push states the commit that the server must still have.
 * Processes of one user that share a copy are serialized by a lock.
 *
 * A file:// URL is its path.
 */
struct remote;

/* Sets a->path, and a->remote if repo is on a server. Returns 0 or a negative errno with err. */
int remote_find(struct archive *a, const char *repo, struct error *err);
void remote_free(struct remote *r);	/* r may be NULL */

/* The following functions do nothing for an archive without a server. */

/* Fetches into the open copy. If the server cannot be reached, returns 0 for writing or if the copy
 * has builds, and archive_is_stale() is true. */
int remote_open(struct archive *a, enum archive_use use, struct error *err);

/* Called before and after writing; remote_end() pushes. It must be called after errors too. Returns
 * -ENOTCONN with err if the push failed. */
int remote_begin(struct archive *a, struct error *err);
int remote_end(struct archive *a, struct error *err);

/* Between the two: changes ref from one commit to an unrelated one, first at the server. Returns
 * -EAGAIN if ref changed meanwhile; it then is the server's. */
int remote_replace(struct archive *a, const char *ref, const git_oid *from, const git_oid *to,
		   struct error *err);

#endif
