/* SPDX-License-Identifier: MIT */
#include "base/buf.h"

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

/* 00, 01 ... 99: half the divisions. */
static const char two_digits[201] =
	"0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849"
	"5051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899";

/* The number of bits says how many digits there are at least. */
static size_t count_digits(uint64_t n)
{
	static const uint64_t powers[] = {
		0, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000,
		10000000000, 100000000000, 1000000000000, 10000000000000, 100000000000000,
		1000000000000000, 10000000000000000, 100000000000000000, 1000000000000000000,
		10000000000000000000u,
	};
	unsigned bits = 64 - (unsigned)__builtin_clzll(n | 1);
	unsigned least = bits * 1233 >> 12;	/* times log10(2) */

	return least + (n >= powers[least]);
}

/* The digits that end before p. */
static void put_digits(char *p, uint64_t n)
{
	for (; n >= 100; n /= 100)
		memcpy(p -= 2, two_digits + n % 100 * 2, 2);
	if (n >= 10)
		memcpy(p - 2, two_digits + n * 2, 2);
	else
		p[-1] = (char)('0' + n);
}

char *buf_put_number(char *to, int64_t n)
{
	uint64_t size = n < 0 ? -(uint64_t)n : (uint64_t)n;
	size_t digits = count_digits(size);

	if (n < 0)
		*to++ = '-';
	put_digits(to + digits, size);
	return to + digits;
}

void buf_addu(struct buf *b, uint64_t n)
{
	size_t digits = count_digits(n);

	if ((b->error || b->cap - b->len <= digits) && buf_reserve(b, digits))
		return;
	b->len += digits;
	b->data[b->len] = '\0';
	put_digits(b->data + b->len, n);
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
