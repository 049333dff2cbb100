/* SPDX-License-Identifier: MIT */
#include "base/cursor.h"

#include <string.h>

bool cursor_literal(struct cursor *c, const char *s)
{
	size_t n = strlen(s);

	if ((size_t)(c->end - c->p) < n || memcmp(c->p, s, n))
		return false;
	c->p += n;
	return true;
}

void cursor_blanks(struct cursor *c)
{
	while (c->p < c->end && (*c->p == ' ' || *c->p == '\t'))
		c->p++;
}

bool cursor_word(struct cursor *c, struct slice *word, size_t max)
{
	const char *p = c->p;

	while (p < c->end && *p != ' ' && *p != '\t' && *p != '\n')
		p++;
	if (p == c->p || (size_t)(p - c->p) > max)
		return false;
	*word = (struct slice){ c->p, (size_t)(p - c->p) };
	c->p = p;
	return true;
}

bool cursor_line(struct cursor *c, struct slice *line, bool *complete)
{
	if (!cursor_until(c, '\n', line))
		return false;
	c->line++;
	*complete = c->p[-1] == '\n';
	return true;
}

/* 19 digits always fit into 64 bits, 20 may not. */
#define SAFE_DIGITS 19

bool cursor_long_u64(struct cursor *c, uint64_t *n)
{
	const char *p = c->p;
	const char *limit = c->end - p > SAFE_DIGITS ? p + SAFE_DIGITS : c->end;
	uint64_t value = 0;
	unsigned digit;

	for (; p < limit && (digit = (unsigned)(*p - '0')) <= 9; p++)
		value = value * 10 + digit;
	if (p == c->p)
		return false;
	if (p == c->p + SAFE_DIGITS) {
		for (; p < c->end && (digit = (unsigned)(*p - '0')) <= 9; p++) {
			if (value > UINT64_MAX / 10 ||
			    (value == UINT64_MAX / 10 && digit > UINT64_MAX % 10))
				return false;
			value = value * 10 + digit;
		}
	}
	c->p = p;
	*n = value;
	return true;
}

bool cursor_long_i64(struct cursor *c, int64_t *n)
{
	const char *start = c->p;
	bool negative = cursor_byte(c, '-');
	uint64_t value;

	if (!cursor_long_u64(c, &value) ||
	    value > (uint64_t)INT64_MAX + (negative ? 1 : 0)) {
		c->p = start;
		return false;
	}
	*n = negative ? (int64_t)-value : (int64_t)value;
	return true;
}

bool cursor_slice_u64(struct slice s, uint64_t *n)
{
	struct cursor c;

	cursor_init(&c, s.p, s.len);
	return cursor_u64(&c, n) && cursor_at_end(&c);
}

bool cursor_slice_i64(struct slice s, int64_t *n)
{
	struct cursor c;

	cursor_init(&c, s.p, s.len);
	return cursor_i64(&c, n) && cursor_at_end(&c);
}
