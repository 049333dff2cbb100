/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ARCHIVE_REMOTE_PARTS_H
#define BUILDBEAT_ARCHIVE_REMOTE_PARTS_H

#include "archive/ref_lock.h"
#include "archive/remote.h"

/* Private to remote*.c. */
struct remote {
	char *url;
	struct buf shown;	/* url for messages, without a password */
	struct ref_lock lock;	/* of the copy */
	unsigned depth;		/* of remote_begin() */
	bool fresh;		/* fetched, and nothing was written since */
	bool stale;		/* the server cannot be reached, because of why */
	struct error why;
};

#define REMOTE_HEADS "refs/heads/"
#define REMOTE_AGREED "refs/buildbeat/agreed/heads/"

/* Read and write a reference of the copy; all zero: none. */
int remote_get(struct archive *a, git_oid *id, const char *prefix, const char *name,
	       struct error *err);
int remote_put(struct archive *a, const char *prefix, const char *name, const git_oid *id,
	       struct error *err);

struct remote_state {
	git_oid ours, server, agreed;
};

int remote_state(struct archive *a, struct remote_state *s, const char *ref, struct error *err);

/* Calls visit with the name of each reference below a prefix; visit may change references. */
int remote_visit(struct archive *a, const char *prefix,
		 int (*visit)(struct archive *, const char *ref, void *, struct error *),
		 void *context, struct error *err);

/* Sets branches and notes to the server's, with local commits on top. */
int remote_settle(struct archive *a, struct error *err);

/* Clears the cache of runs after a branch was rewritten. */
void remote_forget(struct archive *a);

/* Fetches and settles. Sets stale if the server cannot be reached. */
int remote_refresh(struct archive *a, struct error *err);

/* Pushes local commits, with retries. Returns -ENOTCONN if not everything was pushed. */
int remote_send(struct archive *a, struct error *err);

#endif
