/* SPDX-License-Identifier: MIT */
#include "base/buf.h"

#include <endian.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void buf_init(struct buf *b)
{
	*b = (struct buf)BUF_INIT;
}

void buf_init_fixed(struct buf *b, char *memory, size_t cap)
{
	*b = (struct buf){ .data = memory, .cap = cap, .fixed = true };
}

void buf_release(struct buf *b)
{
	if (!b->fixed)
		free(b->data);
	buf_init(b);
}

void buf_clear(struct buf *b)
{
	b->len = 0;
	b->error = 0;
	if (b->cap)
		b->data[0] = '\0';
}

void buf_cut(struct buf *b, size_t len)
{
	b->len = len;
	if (b->cap)
		b->data[len] = '\0';
}

int buf_fail(struct buf *b, int error)
{
	if (b->whole)
		buf_fail(b->whole, error);
	if (!b->error)
		b->error = error;
	return b->error;
}

static int grow_buf(struct buf *b, size_t need)
{
	size_t cap = b->cap ? b->cap : 64;
	char *data;

	if (b->fixed)
		return buf_fail(b, -ENOBUFS);
	while (cap < need) {
		if (cap > SIZE_MAX / 2)
			return buf_fail(b, -ENOMEM);
		cap *= 2;
	}
	data = realloc(b->data, cap);
	if (!data)
		return buf_fail(b, -ENOMEM);
	b->data = data;
	b->cap = cap;
	return 0;
}

int buf_reserve(struct buf *b, size_t n)
{
	if (b->error)
		return b->error;
	if (n >= SIZE_MAX - b->len)
		return buf_fail(b, -ENOMEM);
	if (b->cap - b->len > n)
		return 0;
	return grow_buf(b, b->len + n + 1);
}

void buf_add(struct buf *b, const void *p, size_t n)
{
	if ((b->error || b->cap - b->len <= n) && buf_reserve(b, n))
		return;
	if (n)
		memcpy(b->data + b->len, p, n);
	b->len += n;
	b->data[b->len] = '\0';
}

void buf_adds(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

void buf_addc(struct buf *b, char c)
{
	if ((b->error || b->cap - b->len <= 1) && buf_reserve(b, 1))
		return;
	b->data[b->len++] = c;
	b->data[b->len] = '\0';
}

#define EIGHT_DIGITS 100000000

/* The eight digits of n, each a byte, the first one lowest. They are halved at once, without a
 * branch: a product and a shift divide both halves by 100, then all four pairs by 10. */
static uint64_t eight_digits(uint64_t n)
{
	uint64_t all = n / 10000 | n % 10000 << 32;
	uint64_t high = all * 10486 >> 20 & UINT64_C(0x0000007f0000007f);

	all = high | (all - high * 100) << 16;
	high = all * 103 >> 10 & UINT64_C(0x000f000f000f000f);
	return high | (all - high * 10) << 8;
}

/* The same of a number below 10,000. */
static uint64_t four_digits(uint64_t n)
{
	uint64_t high = n * 10486 >> 20, pairs = high | (n - high * 100) << 16;
	uint64_t tens = pairs * 103 >> 10 & UINT64_C(0x000f000f);

	return tens | (pairs - tens * 10) << 8;
}

/* Without the first `skip` of them, of which at least one stays. Writes eight bytes. */
static char *put_eight(char *to, uint64_t digits, unsigned skip)
{
	uint64_t text = htole64((digits | UINT64_C(0x3030303030303030)) >> 8 * skip);

	memcpy(to, &text, sizeof text);
	return to + 8 - skip;
}

char *buf_put_unsigned(char *to, uint64_t n)
{
	uint64_t digits;

	if (n < 10000) {
		digits = four_digits(n) << 32;	/* as the last ones of eight */
	} else if (n < EIGHT_DIGITS) {
		digits = eight_digits(n);
	} else {
		to = buf_put_unsigned(to, n / EIGHT_DIGITS);
		return put_eight(to, eight_digits(n % EIGHT_DIGITS), 0);
	}
	return put_eight(to, digits, digits ? (unsigned)__builtin_ctzll(digits) / 8 : 7);
}

char *buf_put_number(char *to, int64_t n)
{
	if (n >= 0)
		return buf_put_unsigned(to, (uint64_t)n);
	*to++ = '-';
	return buf_put_unsigned(to, -(uint64_t)n);
}

void buf_addu(struct buf *b, uint64_t n)
{
	char digits[BUF_NUMBER_MAX];

	buf_add(b, digits, (size_t)(buf_put_unsigned(digits, n) - digits));
}

void buf_addi(struct buf *b, int64_t n)
{
	if (n < 0) {
		buf_addc(b, '-');
		buf_addu(b, -(uint64_t)n);
	} else {
		buf_addu(b, (uint64_t)n);
	}
}

void buf_addf(struct buf *b, const char *format, ...)
{
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(NULL, 0, format, ap);
	va_end(ap);
	if (n < 0 || buf_reserve(b, (size_t)n))
		return;
	va_start(ap, format);
	vsnprintf(b->data + b->len, (size_t)n + 1, format, ap);
	va_end(ap);
	b->len += (size_t)n;
}

const char *buf_str(struct buf *b)
{
	if (!b->cap)
		return "";
	b->data[b->len] = '\0';
	return b->data;
}

int buf_error(const struct buf *b)
{
	return b->error;
}
