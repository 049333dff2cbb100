/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RENDER_LIST_H
#define BUILDBEAT_RENDER_LIST_H

#include "analyse/listing.h"
#include "base/text.h"

/* The outputs of `buildbeat list`. 0 or the buffer's error. */
int list_text(struct buf *out, const struct listing *l, const struct style *style);
int list_json(struct buf *out, const struct listing *l);

#endif
