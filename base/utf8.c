/* SPDX-License-Identifier: MIT */
#include "base/utf8.h"

#include "base/array.h"

#include <stdint.h>
#include <string.h>

size_t utf8_length(const unsigned char *p, size_t len)
{
	uint32_t code;
	size_t n;

	if (p[0] < 0x80)
		return 1;
	if (p[0] >= 0xc2 && p[0] <= 0xdf)
		n = 2, code = p[0] & 0x1f;
	else if ((p[0] & 0xf0) == 0xe0)
		n = 3, code = p[0] & 0x0f;
	else if (p[0] >= 0xf0 && p[0] <= 0xf4)
		n = 4, code = p[0] & 0x07;
	else
		return 0;
	if (n > len)
		return 0;
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (p[i] & 0x3f);
	}
	if ((n == 3 && code < 0x800) || (n == 4 && (code < 0x10000 || code > 0x10ffff)) ||
	    (code >= 0xd800 && code <= 0xdfff))
		return 0;
	return n;
}

bool utf8_is_unsafe(uint32_t code)
{
	static const struct {
		uint32_t from, to;
	} unsafe[] = {
		{ 0, 0x1f }, { 0x7f, 0x9f }, { 0x61c, 0x61c }, { 0x200b, 0x200f }, { 0x2028, 0x202e },
		{ 0x2060, 0x206f }, { 0xfeff, 0xfeff }, { 0xfff9, 0xfffb }, { 0xfffe, 0xffff },
		{ 0xe0000, 0xe0fff }, { UTF8_BAD_BYTE, UTF8_BAD_BYTE + 255 },
	};

	if (code >= ' ' && code < 0x7f)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(unsafe); i++) {
		if (code >= unsafe[i].from && code <= unsafe[i].to)
			return true;
	}
	return false;
}

size_t utf8_decode(const unsigned char *p, size_t len, uint32_t *code)
{
	size_t n = utf8_length(p, len);

	*code = n == 1 ? p[0] : n ? p[0] & (0x7fu >> n) : UTF8_BAD_BYTE + p[0];
	for (size_t i = 1; i < n; i++)
		*code = *code << 6 | (p[i] & 0x3f);
	return n ? n : 1;
}

/* Are the eight bytes at p ASCII? Most of every text is. */
static bool is_ascii8(const unsigned char *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof word);
	return !(word & UINT64_C(0x8080808080808080));
}

/* The bytes before the first invalid one. */
static size_t valid_length(const unsigned char *p, size_t len)
{
	size_t i = 0, n;

	while (i < len) {
		if (len - i >= 8 && is_ascii8(p + i)) {
			i += 8;
			continue;
		}
		n = p[i] < 0x80 ? 1 : utf8_length(p + i, len - i);
		if (!n)
			break;
		i += n;
	}
	return i;
}

const char *utf8_repaired(struct buf *copy, const char *s, size_t *len)
{
	size_t at = 0;

	if (valid_length((const unsigned char *)s, *len) == *len)
		return s;
	buf_clear(copy);
	while (at < *len) {
		size_t n = valid_length((const unsigned char *)s + at, *len - at);

		buf_add(copy, s + at, n);
		at += n;
		if (at++ < *len)
			buf_adds(copy, UTF8_REPLACEMENT);
	}
	*len = copy->len;
	return buf_str(copy);
}
