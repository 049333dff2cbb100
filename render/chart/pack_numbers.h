/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RENDER_CHART_PACK_NUMBERS_H
#define BUILDBEAT_RENDER_CHART_PACK_NUMBERS_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A column of numbers being packed; the coding is described in pack.h. */

#define NUMBERS_BLOCK 64

struct numbers {
	char type;		/* 'u', 's' or 'd' */
	bool any;		/* a number other than 0 */
	size_t n;
	uint32_t last;
	uint32_t least, most;	/* of the block */
	unsigned filled;
	uint32_t block[NUMBERS_BLOCK];
	struct buf out;		/* what is packed; its error is sticky */
};

void numbers_init(struct numbers *c, char type);
void numbers_release(struct numbers *c);

/* Pack the numbers since the last whole block. */
void numbers_flush(struct numbers *c);

static inline uint32_t zigzag(int32_t v)
{
	return (uint32_t)v << 1 ^ (uint32_t)(v >> 31);
}

static inline void numbers_put(struct numbers *c, uint32_t coded)
{
	if (coded < c->least)
		c->least = coded;
	if (coded > c->most)
		c->most = coded;
	c->block[c->filled++] = coded;
	if (c->filled == NUMBERS_BLOCK)
		numbers_flush(c);
}

/* Add to a column of type 'u'. */
static inline void numbers_add(struct numbers *c, uint32_t v)
{
	numbers_put(c, v);
}

/* Add to one of type 's' or 'd'. */
static inline void numbers_adds(struct numbers *c, int32_t v)
{
	uint32_t since = c->type == 'd' ? c->last : 0;

	c->last = (uint32_t)v;
	numbers_put(c, zigzag((int32_t)((uint32_t)v - since)));
}

/*
 * Sizes: round(64 * log2(1 + kib)), 0 below 0. A table makes it cheap: init once.
 */
struct size_code {
	uint8_t of[2048];
};

void size_code_init(struct size_code *s);

static inline uint32_t size_code(const struct size_code *s, int64_t kib)
{
	uint64_t x = kib < 0 ? 1 : (uint64_t)kib + 1;
	int top = 63 - __builtin_clzll(x);

	return (uint32_t)top * 64 + s->of[top > 11 ? x >> (top - 11) & 2047 : x << (11 - top) & 2047];
}

/* Add bytes as characters that no markup escapes: 13 bits a pair. 0 or -ENOMEM. */
int pack_characters(struct buf *out, const void *bytes, size_t n);

#endif
