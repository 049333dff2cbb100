/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LIVE_ASSETS_H
#define BUILDBEAT_LIVE_ASSETS_H

#include "base/buf.h"

#include <stdbool.h>

/* What the server sends without looking at a recording: the documents of the live pages, and the
 * scripts and styles of all pages. */
struct asset {
	const char *path, *type;	/* of the request; Content-Type */
	const char *text;
	size_t len;
	struct buf gzip;		/* the same, compressed */
	char tag[20];			/* of ETag: the same text has the same */
	struct buf made;		/* of a text that is no constant */
};

/* Those that were asked for: made and compressed once. */
struct assets {
	size_t n;
	struct asset **asset;
};

/* NULL: there is none with this path, or no memory. */
const struct asset *assets_find(struct assets *all, const char *path);
void assets_release(struct assets *all);

#endif
