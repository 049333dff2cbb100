/* SPDX-License-Identifier: MIT */
#include "render/chart/pack_numbers.h"

#include <math.h>
#include <string.h>

void numbers_init(struct numbers *c, char type)
{
	c->type = type;
	c->any = false;
	c->n = 0;
	c->last = 0;
	c->least = UINT32_MAX;
	c->most = 0;
	c->filled = 0;
	buf_init(&c->out);
}

void numbers_release(struct numbers *c)
{
	buf_release(&c->out);
}

static size_t put_leb(uint8_t *p, uint32_t v)
{
	size_t n = 0;

	for (; v > 127; v >>= 7)
		p[n++] = (uint8_t)(v | 128);
	p[n++] = (uint8_t)v;
	return n;
}

static uint8_t *put_bits(uint8_t *p, const struct numbers *c, unsigned width)
{
	uint64_t bits = 0;
	unsigned n = 0;

	for (unsigned i = 0; i < c->filled; i++) {
		bits |= (uint64_t)(c->block[i] - c->least) << n;
		n += width;
		if (n >= 32) {
			uint32_t low = (uint32_t)bits;

			for (int k = 0; k < 4; k++)
				*p++ = (uint8_t)(low >> 8 * k);
			bits >>= 32;
			n -= 32;
		}
	}
	for (; n; n = n > 8 ? n - 8 : 0, bits >>= 8)
		*p++ = (uint8_t)bits;
	return p;
}

void numbers_flush(struct numbers *c)
{
	unsigned width = c->most > c->least ? 32 - (unsigned)__builtin_clz(c->most - c->least) : 0;
	uint8_t *p;

	if (!c->filled)
		return;
	if (!buf_reserve(&c->out, 6 + sizeof c->block)) {
		p = (uint8_t *)c->out.data + c->out.len;
		p += put_leb(p, c->least);
		*p++ = (uint8_t)width;
		if (width)
			p = put_bits(p, c, width);
		c->out.len = (size_t)(p - (uint8_t *)c->out.data);
	}
	c->n += c->filled;
	c->any |= c->most != 0;
	c->filled = 0;
	c->least = UINT32_MAX;
	c->most = 0;
}

void size_code_init(struct size_code *s)
{
	for (int i = 0; i < 2048; i++)
		s->of[i] = (uint8_t)lround(64 * log2(1 + i / 2048.0));
}

/* Characters */

#define DIGITS 91
#define PAIR_BITS 13
#define PAIRS (1 << PAIR_BITS)

static void fill_pairs(char (*pair)[2])
{
	char digit[DIGITS];
	int n = 0;

	for (int c = '!'; c <= '~'; c++) {
		if (c != '<' && c != '>' && c != '&')
			digit[n++] = (char)c;
	}
	for (int i = 0; i < PAIRS; i++) {
		pair[i][0] = digit[i / DIGITS];
		pair[i][1] = digit[i % DIGITS];
	}
}

int pack_characters(struct buf *out, const void *bytes, size_t n)
{
	char pair[PAIRS][2];
	const uint8_t *p = bytes;
	uint32_t bits = 0;
	unsigned held = 0;
	char *to;

	if (buf_reserve(out, (n * 8 / PAIR_BITS + 1) * 2))
		return buf_error(out);
	fill_pairs(pair);
	to = out->data + out->len;
	for (size_t i = 0; i < n; i++) {
		bits |= (uint32_t)p[i] << held;
		held += 8;
		if (held >= PAIR_BITS) {
			memcpy(to, pair[bits & (PAIRS - 1)], 2);
			to += 2;
			bits >>= PAIR_BITS;
			held -= PAIR_BITS;
		}
	}
	if (held) {
		memcpy(to, pair[bits], 2);
		to += 2;
	}
	out->len = (size_t)(to - out->data);
	return 0;
}
