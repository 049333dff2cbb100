/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ARCHIVE_REMOTE_PARTS_H
#define BUILDBEAT_ARCHIVE_REMOTE_PARTS_H

#include "archive/remote.h"

/* The inside of remote.h, private to remote*.c. */
struct remote {
	char *url;
	struct buf shown;	/* the same for messages */
	int lock_fd;		/* -1: not ours */
	unsigned depth;		/* of remote_begin() */
	bool fresh;		/* was asked, and nothing was begun since */
	bool stale;		/* could not be asked: */
	struct error why;
};

#define REMOTE_HEADS "refs/heads/"
#define REMOTE_AGREED "refs/buildbeat/agreed/heads/"

/* A reference of the copy; all zero: there is none. */
int remote_get(struct archive *a, git_oid *id, const char *prefix, const char *name,
	       struct error *err);
int remote_put(struct archive *a, const char *prefix, const char *name, const git_oid *id,
	       struct error *err);

/* Of a branch. */
struct remote_state {
	git_oid ours, server, agreed;
};

int remote_state(struct archive *a, struct remote_state *s, const char *ref, struct error *err);

/* All of those below a prefix, by what is behind it, which may change them. */
int remote_visit(struct archive *a, const char *prefix,
		 int (*visit)(struct archive *, const char *ref, void *, struct error *),
		 void *context, struct error *err);

/* Branches and notes become what the server had when it was asked last, and on top of it what
 * is only here. */
int remote_settle(struct archive *a, struct error *err);

/* What was seen of branches that are no more what they were. */
void remote_forget(struct archive *a);

/* Ask the server, and settle; whether it could be reached is in stale. */
int remote_refresh(struct archive *a, struct error *err);

/* What is only here to the server, however often others are faster. -ENOTCONN: not all. */
int remote_send(struct archive *a, struct error *err);

#endif
