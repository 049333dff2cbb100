/* SPDX-License-Identifier: MIT */
#include "render/chart/pack_code.h"

#include "base/array.h"
#include "base/hash.h"
#include "base/utf8.h"

#include <endian.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

void pack_column_init(struct pack_column *c, char type)
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

void pack_column_release(struct pack_column *c)
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

static uint8_t *put_bits(uint8_t *p, const struct pack_column *c, unsigned width)
{
	uint64_t bits = 0, mask = (1ull << width) - 1;
	unsigned n = 0;

	for (unsigned i = 0; i < c->filled; i++) {
		bits |= ((c->block[i] - c->least) & mask) << n;
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

static unsigned width_of(uint32_t v)
{
	return v ? 32 - (unsigned)__builtin_clz(v) : 0;
}

static unsigned leb_length(unsigned width)
{
	return width ? (width + 6) / 7 : 1;
}

/* The width with which a block is shortest, of which the larger numbers are written apart. */
static unsigned best_width(const struct pack_column *c, unsigned widest)
{
	uint8_t n[33] = { 0 };
	unsigned best = widest, least = (c->filled * widest + 7) / 8;

	for (unsigned i = 0; i < c->filled; i++)
		n[width_of(c->block[i] - c->least)]++;
	for (unsigned width = 0; width < widest; width++) {
		unsigned size = 1 + (c->filled * width + 7) / 8;

		for (unsigned more = widest; more > width; more--)
			size += n[more] * (1 + leb_length(more - width));
		if (size < least) {
			least = size;
			best = width;
		}
	}
	return best;
}

/* How many numbers are larger, then of each its place and what is above the width. */
static uint8_t *put_larger(uint8_t *p, const struct pack_column *c, unsigned width)
{
	uint8_t *count = p++;

	*count = 0;
	for (unsigned i = 0; i < c->filled; i++) {
		uint32_t above = (c->block[i] - c->least) >> width;

		if (!above)
			continue;
		*p++ = (uint8_t)i;
		p += put_leb(p, above);
		++*count;
	}
	return p;
}

void pack_column_flush(struct pack_column *c)
{
	unsigned widest = c->filled ? width_of(c->most - c->least) : 0;
	unsigned width = widest > 1 ? best_width(c, widest) : widest;
	uint8_t *p;

	if (!c->filled)
		return;
	if (!buf_reserve(&c->out, 7 + sizeof c->block)) {
		p = (uint8_t *)c->out.data + c->out.len;
		p += put_leb(p, c->least);
		*p++ = (uint8_t)(width | (width < widest ? PACK_LARGER : 0));
		if (width)
			p = put_bits(p, c, width);
		if (width < widest)
			p = put_larger(p, c, width);
		c->out.len = (size_t)(p - (uint8_t *)c->out.data);
	}
	c->n += c->filled;
	c->any |= c->most != 0;
	c->filled = 0;
	c->least = UINT32_MAX;
	c->most = 0;
}

void pack_logs_init(struct pack_logs *s)
{
	for (int i = 0; i < 2048; i++)
		s->of[i] = (uint8_t)lround(64 * log2(1 + i / 2048.0));
}

/* As of pack_chart.h. */
#define SIZES_EXACT 1000
#define SIZES_A_UNIT 3700

uint32_t pack_size(int64_t v)
{
	uint64_t u = v < 0 ? 0 : v >> 56 ? 1ull << 56 : (uint64_t)v;
	uint32_t code = SIZES_EXACT;
	unsigned shift = 10;

	if (u < SIZES_EXACT)
		return (uint32_t)u;
	for (; u * 2 >= 1999ull << shift; shift += 10)
		code += SIZES_A_UNIT;
	if (u < 10ull << shift)
		return code + (uint32_t)(u * 100 >> shift);
	if (u < 100ull << shift)
		return code + 900 + (uint32_t)(u * 10 >> shift);
	return code + 1700 + (uint32_t)(u * 2 >> shift);
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
	const uint8_t *p = bytes, *end = p + n;
	uint64_t bits = 0;
	unsigned held = 0;
	char *to;

	if (buf_reserve(out, (n * 8 / PAIR_BITS + 1) * 2))
		return buf_error(out);
	fill_pairs(pair);
	to = out->data + out->len;
	while (p < end) {
		uint32_t four;

		if (end - p >= (ptrdiff_t)sizeof four) {
			memcpy(&four, p, sizeof four);
			bits |= (uint64_t)le32toh(four) << held;
			held += 32;
			p += sizeof four;
		} else {
			bits |= (uint64_t)*p++ << held;
			held += 8;
		}
		for (; held >= PAIR_BITS; held -= PAIR_BITS, bits >>= PAIR_BITS, to += 2)
			memcpy(to, pair[bits & (PAIRS - 1)], 2);
	}
	if (held) {
		memcpy(to, pair[bits], 2);
		to += 2;
	}
	out->len = (size_t)(to - out->data);
	return 0;
}

/* At most `most` bytes, not ending within a character. */
static size_t cut(const char *text, size_t n, size_t most)
{
	if (n <= most)
		return n;
	n = most - 3;
	while (n && ((unsigned char)text[n] & 0xc0) == 0x80)
		n--;
	return n;
}

static char *mempset(char *p, char c, size_t n)
{
	memset(p, c, n);
	return p + n;
}

/* What turns the direction of writing would do so in the page as well. */
static void put_line(struct buf *out, const char *text, size_t n, bool whole)
{
	char *p;

	if (buf_reserve(out, n + 4))
		return;
	p = out->data + out->len;
	for (size_t i = 0, more; i < n; i += more) {
		uint32_t code;

		more = utf8_decode((const unsigned char *)text + i, n - i, &code);
		if (more == 3 && utf8_is_unsafe(code))
			p = mempcpy(p, UTF8_REPLACEMENT, more);
		else if (code < UTF8_BAD_BYTE && utf8_is_unsafe(code))
			p = mempset(p, code < 0x80 ? ' ' : '?', more);
		else
			p = mempcpy(p, text + i, more);
	}
	if (!whole)
		p = mempcpy(p, "...", 3);
	*p++ = '\n';
	out->len = (size_t)(p - out->data);
}

void pack_text(struct buf *out, const char *text, size_t most)
{
	size_t n = strnlen(text, most + 1), kept = cut(text, n, most);

	put_line(out, text, kept, kept == n);
}

static bool is_text(const struct pack_dictionary *d, uint32_t i, const char *text, size_t n)
{
	const char *p = d->out.data + d->at[i];

	return d->out.len - d->at[i] > n && !memcmp(p, text, n) && p[n] == '\n';
}

/* Two texts of one hash: the later ones of the second are there again each time. */
uint32_t pack_dictionary_add(struct pack_dictionary *d, const char *text)
{
	size_t n = strnlen(text, PACK_TEXT_MAX + 1), kept = cut(text, n, PACK_TEXT_MAX);
	uint64_t hash = hash_bytes(0, text, kept);
	size_t *grown;
	uint32_t i;

	if (d->out.error)
		return 0;
	if (index_find(&d->index, hash, n, &i)) {
		if (n != kept || is_text(d, i, text, n))
			return i + 1;
	} else if (index_put(&d->index, hash, n, (uint32_t)d->n)) {
		d->out.error = -ENOMEM;
	}
	grown = array_grow(d->at, d->n, sizeof *grown);
	if (!grown) {
		d->out.error = -ENOMEM;
		return 0;
	}
	d->at = grown;
	d->at[d->n++] = d->out.len;
	put_line(&d->out, text, kept, kept == n);
	return 0;
}

void pack_dictionary_release(struct pack_dictionary *d)
{
	buf_release(&d->out);
	free(d->at);
	index_release(&d->index);
	*d = (struct pack_dictionary)PACK_DICTIONARY_INIT;
}

/* Level 4 takes 6 % off the texts of a large build, for twice the time. */
#define LEVEL 1
#define MEMORY 8		/* zlib's default */
#define GZIP_FORMAT (MAX_WBITS + 16)

static int add_packed(struct buf *out, const void *p, size_t n, int level, int format, int strategy)
{
	z_stream z = { .next_in = (unsigned char *)p, .avail_in = (unsigned)n };
	size_t room;

	if (n > UINT_MAX / 2)
		return -EFBIG;
	if (deflateInit2(&z, level, Z_DEFLATED, format, MEMORY, strategy) != Z_OK)
		return -ENOMEM;
	room = deflateBound(&z, n);
	if (!buf_reserve(out, room)) {
		z.next_out = (unsigned char *)out->data + out->len;
		z.avail_out = (unsigned)room;
		deflate(&z, Z_FINISH);
		out->len += z.total_out;
	}
	deflateEnd(&z);
	return buf_error(out);
}

int pack_deflate(struct buf *out, const void *p, size_t n)
{
	return add_packed(out, p, n, LEVEL, -MAX_WBITS, Z_DEFAULT_STRATEGY);
}

int pack_deflate_numbers(struct buf *out, const void *p, size_t n)
{
	return add_packed(out, p, n, LEVEL, -MAX_WBITS, Z_RLE);
}

int pack_gzip(struct buf *out, const void *p, size_t n)
{
	return add_packed(out, p, n, Z_DEFAULT_COMPRESSION, GZIP_FORMAT, Z_DEFAULT_STRATEGY);
}
