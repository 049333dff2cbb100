#ifndef BUILDBEAT_CURSOR_H
#define BUILDBEAT_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Reading text: a position, an end, a line number. Nothing is copied, a NUL is
 * a byte like any other. Functions that find what they look for return true
 * and move past it; else they return false and stay.
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

void cursor_init(struct cursor *c, const void *p, size_t len);

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

/* Everything up to the byte stop (which is passed too) or the end. Always true
 * but at the end. */
bool cursor_until(struct cursor *c, char stop, struct slice *out);

/* The next line without its newline; complete tells whether it had one. False
 * at the end only. */
bool cursor_line(struct cursor *c, struct slice *line, bool *complete);

/* Decimal numbers; false when there is none or it does not fit. */
bool cursor_long_u64(struct cursor *c, uint64_t *n);
bool cursor_long_i64(struct cursor *c, int64_t *n);

/* As long as they are short, which nearly all are, they are parsed in place. */
#define CURSOR_SHORT_DIGITS 18

static inline bool cursor_u64(struct cursor *c, uint64_t *n)
{
	const char *p = c->p;
	const char *limit = c->end - p > CURSOR_SHORT_DIGITS ? p + CURSOR_SHORT_DIGITS : c->end;
	uint64_t value = 0;
	unsigned digit;

	for (; p < limit && (digit = (unsigned)(*p - '0')) <= 9; p++)
		value = value * 10 + digit;
	if (p == limit && p < c->end)
		return cursor_long_u64(c, n);
	if (p == c->p)
		return false;
	c->p = p;
	*n = value;
	return true;
}

static inline bool cursor_i64(struct cursor *c, int64_t *n)
{
	struct cursor digits = *c;
	bool negative = cursor_byte(&digits, '-');
	uint64_t value;

	if (!cursor_u64(&digits, &value) || value > INT64_MAX)
		return cursor_long_i64(c, n);
	c->p = digits.p;
	*n = negative ? -(int64_t)value : (int64_t)value;
	return true;
}

bool slice_is(struct slice s, const char *text);

/* The whole slice as a number. */
bool slice_u64(struct slice s, uint64_t *n);
bool slice_i64(struct slice s, int64_t *n);

#endif
