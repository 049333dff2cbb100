/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LIVE_ASSETS_H
#define BUILDBEAT_LIVE_ASSETS_H

#include "base/buf.h"

#include <stdbool.h>

/* What the server sends without looking at a recording: the documents of the live pages, and the
 * scripts and styles of all pages. */
struct asset {
	const char *type;	/* Content-Type */
	struct buf text;
};

/* False: there is none with this path, or no memory. */
bool asset_find(struct asset *a, const char *path);
void asset_release(struct asset *a);

#endif
