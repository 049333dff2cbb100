/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ARCHIVE_SYNC_H
#define BUILDBEAT_ARCHIVE_SYNC_H

#include "base/error.h"

#include <git2.h>
#include <stdbool.h>

/*
 * The two things that are said over the network. What the server has is in the copy below
 * SYNC_SERVER: heads/HOST/BRANCH/MACHINE and notes/buildbeat.
 *
 * Of ssh libgit2 knows: the keys of the agent, then ~/.ssh/id_ed25519, id_ecdsa and id_rsa where
 * they have no passphrase; a server whose key is not in ~/.ssh/known_hosts is refused. It
 * does not read ~/.ssh/config.
 */
#define SYNC_SERVER "refs/buildbeat/server/"
#define SYNC_HEADS SYNC_SERVER "heads/"
#define SYNC_NOTES SYNC_SERVER "notes/buildbeat"

/* shown is the url for messages. 0, or -ENOTCONN with err. */
int sync_fetch(git_repository *git, const char *url, const char *shown, struct error *err);

/* One reference to be sent: local, a reference of the copy, becomes the server's name, which
 * must still be at lease (all zero: must not be there). */
struct sync_push {
	const char *local, *name;
	git_oid lease;
	bool done;		/* out: the server has it */
};

/* All in one go. -EAGAIN with err: the server went on; -EBUSY with err: it refused some, perhaps
 * as it just went on; -ENOTCONN with err: not known to have come through. */
int sync_push(git_repository *git, const char *url, const char *shown, struct sync_push *push,
	      size_t n, struct error *err);

#endif
