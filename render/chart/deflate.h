/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RENDER_CHART_DEFLATE_H
#define BUILDBEAT_RENDER_CHART_DEFLATE_H

#include "base/buf.h"

#include <stddef.h>

/* Add the n bytes at p as a raw deflate stream (RFC 1951). 0 or -ENOMEM. */
int deflate_add(struct buf *out, const void *p, size_t n);

#endif
