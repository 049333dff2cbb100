/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RENDER_TEXT_RESULTS_H
#define BUILDBEAT_RENDER_TEXT_RESULTS_H

#include "render/show.h"

struct facts;

/* The first `top` files of the selected tasks, in the order of the tasks. */
void text_files(struct buf *out, const struct view *v, size_t top, const struct style *style);

/* A fact: what a compiler cache did for the selected tasks. */
void text_caches(struct facts *f, const struct view *v);

#endif
