/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RENDER_TEXT_SHOW_H
#define BUILDBEAT_RENDER_TEXT_SHOW_H

#include "render/show.h"

/* The parts of text_show(), private to it. */

/* Command, machine, source, result, warnings; sums and peaks of the build. */
void text_head(struct buf *out, const struct summary *s, const struct style *style);
void text_totals(struct buf *out, const struct summary *s, const struct style *style);

/* A heading behind an empty line. */
void text_title(struct buf *out, const struct style *style, const char *title);

/* Rows of values of the n targets or tasks in index, by a key. */
void text_targets(struct buf *out, const struct view *v, const uint32_t *index, size_t n,
		  enum sort_key key, const struct style *style);
void text_tasks(struct buf *out, const struct view *v, const uint32_t *index, size_t n,
		enum sort_key key, const struct style *style);

#endif
