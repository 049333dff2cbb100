/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ARCHIVE_REMOTE_H
#define BUILDBEAT_ARCHIVE_REMOTE_H

#include "archive/repo.h"

/*
 * An archive on a server: a bare copy in the user's cache directory, in which all is read and
 * written as in any other archive. In it
 *	refs/heads/REF			what the server has, and on top of it the builds that it
 *					does not have yet
 *	refs/buildbeat/server/heads/REF	what it had when it was asked last
 *	refs/buildbeat/agreed/heads/REF	and what of it the branch is known to have
 * and so for the notes. What is in none of the latter two is to be sent, with the next build if
 * it could not be now; where the server went on it is put on top of what is there, but for
 * runs that are there already. Who pushes says what the server must still have.
 * Processes of one user that share a copy take turns.
 *
 * file:// is the path.
 */
struct remote;

/* What repo names: its path, and what is needed for a server. 0 or a negative errno with err. */
int remote_find(struct archive *a, const char *repo, struct error *err);
void remote_free(struct remote *r);	/* NULL is fine */

/* All of the following do nothing where there is no server. */

/* The copy, which is open, gets what the server has. Where it cannot be reached, and there is
 * something to read or use is to write: 0, and archive_is_stale(). */
int remote_open(struct archive *a, enum archive_use use, struct error *err);

/* Before something is written, and afterwards, whether that went well or not: it is sent.
 * -ENOTCONN with err: not yet. */
int remote_begin(struct archive *a, struct error *err);
int remote_end(struct archive *a, struct error *err);

/* Between the two: let ref go from one commit to another that does not follow it, at the
 * server first. -EAGAIN: it was not there any more, and is now what the server has. */
int remote_replace(struct archive *a, const char *ref, const git_oid *from, const git_oid *to,
		   struct error *err);

#endif
