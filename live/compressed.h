/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LIVE_COMPRESSED_H
#define BUILDBEAT_LIVE_COMPRESSED_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

/* Bodies of replies, compressed as gzip for clients that accept it. */

/* Of Accept-Encoding: a list of names with qualities, or NULL. */
bool compressed_accepted(const char *accept);

/* Is a reply long enough? All are texts. */
bool compressed_pays(size_t len);

/* Replies to one request are sent once, assets many times. */
enum compressed_effort { COMPRESSED_FAST, COMPRESSED_SMALL };

/* Added to `out`. 0 or a negative errno. */
int compressed_add(struct buf *out, const void *data, size_t len, enum compressed_effort effort);

#endif
