/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RENDER_CHART_PACK_TEXTS_H
#define BUILDBEAT_RENDER_CHART_PACK_TEXTS_H

#include "base/buf.h"
#include "base/index.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Texts being packed, each ended by a newline. A control character in them becomes
 * a space, and what is longer than `most` (or TEXT_MAX) bytes is cut and ends with
 * "...".
 */
#define TEXT_MAX 200
#define COMMAND_MAX 400

void texts_put(struct buf *out, const char *text, size_t most);

/* Texts of which many are the same: each is there once. */
struct dictionary {
	struct buf out;
	size_t n;
	size_t *at;		/* where each starts in out */
	struct index index;
};

#define DICTIONARY_INIT { .out = BUF_INIT, .index = INDEX_INIT }

/* 0: the text is new, and became the last one; otherwise 1 + its index. */
uint32_t dictionary_add(struct dictionary *d, const char *text);

/* Out of memory is the sticky error of out. */
void dictionary_release(struct dictionary *d);

#endif
