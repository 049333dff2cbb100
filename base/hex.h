/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_BASE_HEX_H
#define BUILDBEAT_BASE_HEX_H

#include "base/cursor.h"

#include <string.h>

/* The digit of 0 to 15. */
static inline char hex_digit(unsigned value)
{
	return "0123456789abcdef"[value & 15];
}

/* The value of a hexadecimal digit, in lower or upper case; -1 for other characters. */
static inline int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The byte of two hexadecimal digits, -1 if they are not. */
static inline int hex_byte(const char digits[2])
{
	int high = hex_value(digits[0]), low = hex_value(digits[1]);

	return high < 0 || low < 0 ? -1 : high << 4 | low;
}

/* A hexadecimal number; false if there is no digit or it does not fit. */
static inline bool hex_u64(struct cursor *c, uint64_t *n)
{
	const char *start = c->p;
	int digit;

	for (*n = 0; c->p < c->end && (digit = hex_value(*c->p)) >= 0; c->p++) {
		if (*n >> 60)
			return false;
		*n = *n << 4 | (unsigned)digit;
	}
	return c->p > start;
}

static inline bool hex_u32(struct cursor *c, uint32_t *n)
{
	uint64_t value;

	if (!hex_u64(c, &value) || value > UINT32_MAX)
		return false;
	*n = (uint32_t)value;
	return true;
}

/* A whole text as a hexadecimal number, with or without 0x. */
static inline bool hex_text(const char *text, uint64_t *n)
{
	struct cursor c;

	cursor_init(&c, text, strlen(text));
	if (!strncmp(text, "0x", 2))
		c.p += 2;
	return hex_u64(&c, n) && cursor_at_end(&c);
}

#endif
