/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ARCHIVE_SYNC_H
#define BUILDBEAT_ARCHIVE_SYNC_H

#include "archive/git.h"
#include "base/error.h"

#include <stdbool.h>

/*
 * Fetch and push. In the copy, the server's references are below SYNC_SERVER: notes/buildbeat and
 * heads/HOST/BRANCH/MACHINE.
 *
 * For ssh, libgit2 uses the keys of the agent, then ~/.ssh/id_ed25519, id_ecdsa and id_rsa without
 * a passphrase. A server whose key is not in ~/.ssh/known_hosts is refused. ~/.ssh/config is
 * not read. A server that is silent or slow is given up (sync_child.h).
 */
#define SYNC_SERVER "refs/buildbeat/server/"
#define SYNC_HEADS SYNC_SERVER "heads/"
#define SYNC_NOTES SYNC_SERVER "notes/buildbeat"

/* shown is the URL for messages. Returns 0, or -ENOTCONN with err. */
int sync_fetch(git_repository *git, const char *url, const char *shown, struct error *err);

/* A reference to push: the reference `local` of the copy becomes `name` at the server, which must
 * still be at lease (all zero: must not exist). */
struct sync_push {
	const char *local, *name;
	git_oid lease;
	bool done;		/* result: the server has it */
};

/* Pushes all references at once. Returns 0 or with err: -EAGAIN if the server has new commits,
 * -EBUSY if it refused some, -ENOTCONN if the connection failed. */
int sync_push(git_repository *git, const char *url, const char *shown, struct sync_push *what,
	      size_t n, struct error *err);

#endif
