/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_BASE_CURSOR_H
#define BUILDBEAT_BASE_CURSOR_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * A position in a text, its end and a line number. Nothing is copied; a NUL is a byte like any
 * other. A function that finds its item returns true and moves the position past it. Otherwise
 * it returns false and the position is unchanged.
 */
struct cursor {
	const char *p;
	const char *end;
	unsigned line;		/* of p, counted from 1 by cursor_line() */
};

struct slice {
	const char *p;
	size_t len;
};

static inline void cursor_init(struct cursor *c, const void *p, size_t len)
{
	c->p = p;
	c->end = c->p ? c->p + len : NULL;
	c->line = 0;
}

static inline bool cursor_at_end(const struct cursor *c)
{
	return c->p == c->end;
}

/* The byte. */
static inline bool cursor_byte(struct cursor *c, char byte)
{
	if (c->p == c->end || *c->p != byte)
		return false;
	c->p++;
	return true;
}

/* The literal s. */
bool cursor_literal(struct cursor *c, const char *s);

/* Any number of blanks and tabs. */
void cursor_blanks(struct cursor *c);

/* One to max bytes that are neither blank, tab nor newline. */
bool cursor_word(struct cursor *c, struct slice *word, size_t max);

/* Everything up to the byte stop, which is passed too, or up to the end. False only at the
 * end. */
static inline bool cursor_until(struct cursor *c, char stop, struct slice *out)
{
	const char *p;

	if (c->p == c->end)
		return false;
	p = memchr(c->p, stop, (size_t)(c->end - c->p));
	*out = (struct slice){ c->p, (size_t)((p ? p : c->end) - c->p) };
	c->p = p ? p + 1 : c->end;
	return true;
}

/* The next line, without its newline. *complete is whether it had one. False only at the end. */
bool cursor_line(struct cursor *c, struct slice *line, bool *complete);

/* Decimal numbers; false if there is no number or it does not fit. */
bool cursor_long_u64(struct cursor *c, uint64_t *n);
bool cursor_long_i64(struct cursor *c, int64_t *n);

/*
 * Parse up to eight digits, which are the bytes of text from the lowest on. Returns how many there
 * are, and their value in *n. All eight are parsed at once, because the branch predictor cannot
 * guess the number of digits.
 */
static inline unsigned cursor_digits_of(uint64_t text, uint64_t *n)
{
	uint64_t other;
	unsigned digits;

	text ^= UINT64_C(0x3030303030303030);
	other = ((text + UINT64_C(0x7676767676767676)) | text) & UINT64_C(0x8080808080808080);
	digits = other ? (unsigned)__builtin_ctzll(other) / 8 : 8;
	text = digits ? text << (64 - 8 * digits) : 0;
	text = text * 10 + (text >> 8);
	*n = ((text & UINT64_C(0x000000ff000000ff)) * UINT64_C(0x000f424000000064) +
	      (text >> 16 & UINT64_C(0x000000ff000000ff)) * UINT64_C(0x0000271000000001)) >> 32;
	return digits;
}

/* The same of the text at p, where eight bytes can be read. */
static inline unsigned cursor_digits8(const char *p, uint64_t *n)
{
	uint64_t text;

	memcpy(&text, p, sizeof text);
	return cursor_digits_of(le64toh(text), n);
}

/* The same of the text from p to end, which are not equal. Eight bytes before end can be read. */
static inline unsigned cursor_digits8_until(const char *p, const char *end, uint64_t *n)
{
	size_t left = (size_t)(end - p);
	uint64_t text;

	if (left >= sizeof text)
		return cursor_digits8(p, n);
	memcpy(&text, end - sizeof text, sizeof text);
	return cursor_digits_of(le64toh(text) >> 8 * (sizeof text - left), n);
}

/*
 * Parse the number at p, which is before end. Returns how many digits it has, up to 15, or 0
 * if there is no number, or it is longer, or too near the end: the functions for long numbers
 * decide.
 */
static inline unsigned cursor_digits15(const char *p, const char *end, uint64_t *n)
{
	static const uint32_t power[8] = { 1, 10, 100, 1000, 10000, 100000, 1000000, 10000000 };
	uint64_t more;
	unsigned digits;

	if (end - p < 8)
		return 0;
	digits = cursor_digits8(p, n);
	if (digits < 8)
		return digits;
	digits = end - p < 16 ? 8 : cursor_digits8(p + 8, &more);
	if (digits == 8)
		return 0;
	*n = *n * power[digits] + more;
	return 8 + digits;
}

static inline bool cursor_u64(struct cursor *c, uint64_t *n)
{
	unsigned digits = cursor_digits15(c->p, c->end, n);

	c->p += digits;
	return digits || cursor_long_u64(c, n);
}

static inline bool cursor_i64(struct cursor *c, int64_t *n)
{
	bool negative = c->p < c->end && *c->p == '-';
	uint64_t value;
	unsigned digits = cursor_digits15(c->p + negative, c->end, &value);

	if (!digits)
		return cursor_long_i64(c, n);
	*n = negative ? -(int64_t)value : (int64_t)value;
	c->p += negative + digits;
	return true;
}

/*
 * The same for parsers that keep p, which is before end, in a register. Returns the position
 * after the number, NULL without a number.
 */
static inline const char *cursor_pass_i64(const char *p, const char *end, int64_t *n)
{
	bool negative = *p == '-';
	struct cursor c;
	uint64_t value;
	int64_t other;
	unsigned digits = cursor_digits15(p + negative, end, &value);

	if (digits) {
		*n = negative ? -(int64_t)value : (int64_t)value;
		return p + negative + digits;
	}
	cursor_init(&c, p, (size_t)(end - p));
	if (!cursor_long_i64(&c, &other))
		return NULL;
	*n = other;
	return c.p;
}

static inline struct slice slice_of(const char *text)
{
	return (struct slice){ text, strlen(text) };
}

static inline bool slice_is(struct slice s, const char *text)
{
	return s.len == strlen(text) && !memcmp(s.p, text, s.len);
}

static inline bool slice_equal(struct slice a, struct slice b)
{
	return a.len == b.len && (!a.len || !memcmp(a.p, b.p, a.len));
}

static inline bool slice_starts(struct slice s, const char *head)
{
	size_t n = strlen(head);

	return s.len >= n && !memcmp(s.p, head, n);
}

static inline bool slice_ends(struct slice s, const char *tail)
{
	size_t n = strlen(tail);

	return s.len >= n && !memcmp(s.p + s.len - n, tail, n);
}

/* What is behind the last slash of a path. */
static inline struct slice slice_base(struct slice path)
{
	const char *slash = memrchr(path.p, '/', path.len);

	return slash ? (struct slice){ slash + 1, (size_t)(path.p + path.len - slash - 1) } : path;
}

/* The whole slice as a number. */
bool cursor_slice_u64(struct slice s, uint64_t *n);
bool cursor_slice_i64(struct slice s, int64_t *n);

#endif
