/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RENDER_CHART_PACK_CODE_H
#define BUILDBEAT_RENDER_CHART_PACK_CODE_H

#include "base/buf.h"
#include "base/index.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A column of numbers being packed; the coding is described in pack_chart.h. */

#define PACK_BLOCK 64
#define PACK_LARGER 0x80	/* in the byte of the width */

struct pack_column {
	char type;		/* 'u', 's' or 'd' */
	bool any;		/* a number other than 0 */
	size_t n;
	uint32_t last;
	uint32_t least, most;	/* of the block */
	unsigned filled;
	uint32_t block[PACK_BLOCK];
	struct buf out;		/* what is packed; its error is sticky */
};

void pack_column_init(struct pack_column *c, char type);
void pack_column_release(struct pack_column *c);

/* Pack the numbers since the last whole block. */
void pack_column_flush(struct pack_column *c);

static inline void pack_column_put(struct pack_column *c, uint32_t coded)
{
	if (coded < c->least)
		c->least = coded;
	if (coded > c->most)
		c->most = coded;
	c->block[c->filled++] = coded;
	if (c->filled == PACK_BLOCK)
		pack_column_flush(c);
}

/* Add to a column of type 'u'. */
static inline void pack_column_add(struct pack_column *c, uint32_t v)
{
	pack_column_put(c, v);
}

/* Add to one of type 's' or 'd'. */
static inline void pack_column_adds(struct pack_column *c, int32_t v)
{
	uint32_t since = c->type == 'd' ? c->last : 0;

	c->last = (uint32_t)v;
	v = (int32_t)((uint32_t)v - since);
	pack_column_put(c, (uint32_t)v << 1 ^ (uint32_t)(v >> 31));
}

/*
 * Logarithms: round(64 * log2(1 + v)), 0 below 0. A table makes it cheap: init once.
 */
struct pack_logs {
	uint8_t of[2048];
};

void pack_logs_init(struct pack_logs *s);

static inline uint32_t pack_log(const struct pack_logs *s, int64_t v)
{
	uint64_t x = v < 0 ? 1 : (uint64_t)v + 1;
	int top = 63 - __builtin_clzll(x);

	return (uint32_t)top * 64 +
	       s->of[top > 11 ? x >> (top - 11) & 2047 : x << (11 - top) & 2047];
}

/* A size in bytes or KiB; 0 below 0. No two sizes that text_add_bytes() prints differently have one
 * code. */
uint32_t pack_size(int64_t v);

/* Add bytes as characters that no markup escapes: 13 bits a pair. 0 or -ENOMEM. */
int pack_characters(struct buf *out, const void *bytes, size_t n);

/*
 * Texts being packed, each ended by a newline. A control character becomes a space; a text
 * that is longer than `most` (or PACK_TEXT_MAX) bytes is shortened and ends with "...".
 */
#define PACK_TEXT_MAX 200

void pack_text(struct buf *out, const char *text, size_t most);

/* Texts of which many are the same: each is there once. */
struct pack_dictionary {
	struct buf out;
	size_t n;
	size_t *at;		/* where each starts in out */
	struct index index;
};

#define PACK_DICTIONARY_INIT { .out = BUF_INIT, .index = INDEX_INIT }

/* 0: the text is new, and became the last one; otherwise 1 + its index. */
uint32_t pack_dictionary_add(struct pack_dictionary *d, const char *text);

/* Out of memory is the sticky error of out. */
void pack_dictionary_release(struct pack_dictionary *d);

/* Add the n bytes at p as a raw deflate stream (RFC 1951): texts, or numbers, of which only runs
 * repeat. 0 or -ENOMEM. */
int pack_deflate(struct buf *out, const void *p, size_t n);
int pack_deflate_numbers(struct buf *out, const void *p, size_t n);

/* The same as a gzip file (RFC 1952), packed better. */
int pack_gzip(struct buf *out, const void *p, size_t n);

#endif
