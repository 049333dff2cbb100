/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LIVE_LISTENER_H
#define BUILDBEAT_LIVE_LISTENER_H

#include "base/buf.h"
#include "base/error.h"

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

/* The socket on which the server listens. */
struct listener {
	int fd;
	char host[64];		/* of a URL: "127.0.0.1", "[::1]"; "" for a unix socket */
	char address[64];	/* without brackets */
	unsigned port;
	bool loopback, any;	/* any: 0.0.0.0 or [::] */
	char path[PATH_MAX];	/* of a unix socket, otherwise "" */
	dev_t dev;
	ino_t ino;		/* of that file */
};

#define LISTENER_INIT { .fd = -1 }

/*
 * address: "ADDR:PORT", "[ADDR]:PORT" or "localhost:PORT", where port 0 is any free one; NULL:
 * 127.0.0.1:0. path: a unix socket instead, or NULL. An address that is not of the loopback needs
 * `everywhere`. 0, or a negative errno with err; nothing to release then.
 */
int listener_open(struct listener *l, const char *address, const char *path, bool everywhere,
		  struct error *err);

/* Can the text be such an address or path? The same error if it cannot. */
int listener_check(const char *address, const char *path, bool everywhere, struct error *err);

/* Also removes the unix socket, if it is still this one. */
void listener_close(struct listener *l);

/* "http://127.0.0.1:4711/", or "unix:PATH" */
void listener_url(const struct listener *l, bool tls, const char *name, struct buf *out);

#endif
