/* SPDX-License-Identifier: MIT */
#include "base/field.h"

#include "base/hash.h"
#include "base/hex.h"
#include "base/minmax.h"

#include <endian.h>
#include <stdint.h>
#include <string.h>

#define CUT_MARK_LEN 10		/* \. and eight digits */

static bool is_plain(unsigned char c)
{
	return c >= ' ' && c != '\\' && c != 0x7f;
}

#define EVERY_BYTE(byte) (UINT64_MAX / 255 * (byte))

/* The high bit of the lowest byte in word that is not plain, and of none below it. */
static uint64_t not_plain(uint64_t word)
{
	uint64_t backslash = word ^ EVERY_BYTE('\\');
	uint64_t delete = word ^ EVERY_BYTE(0x7f);

	return (((word - EVERY_BYTE(' ')) & ~word) |
		((backslash - EVERY_BYTE(1)) & ~backslash) |
		((delete - EVERY_BYTE(1)) & ~delete)) & EVERY_BYTE(0x80);
}

static uint32_t load4(const unsigned char *p)
{
	uint32_t word;

	memcpy(&word, p, sizeof word);
	return le32toh(word);
}

static uint64_t load8(const unsigned char *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof word);
	return le64toh(word);
}

/* Of one to seven bytes, the first one lowest, and blanks. Loads that overlap need no loop. */
static uint64_t load_few(const unsigned char *p, size_t len)
{
	uint64_t word = EVERY_BYTE(' ') << 8 * len;

	if (len >= 4)
		return word | load4(p) | (uint64_t)load4(p + len - 4) << 8 * (len - 4);
	return word | p[0] | (uint64_t)p[len / 2] << 8 * (len / 2) |
	       (uint64_t)p[len - 1] << 8 * (len - 1);
}

/* The number of plain bytes at the beginning, counted in steps of eight. */
static size_t plain_run(const unsigned char *p, size_t len)
{
	size_t run = 0;
	uint64_t not;

	for (; len - run >= 8; run += 8) {
		not = not_plain(load8(p + run));
		if (not)
			return run + (size_t)__builtin_ctzll(not) / 8;
	}
	not = run < len ? not_plain(load_few(p + run, len - run)) : 0;
	return not ? run + (size_t)__builtin_ctzll(not) / 8 : len;
}

static size_t escape(char out[4], unsigned char c)
{
	char letter = 0;

	switch (c) {
	case '\t': letter = 't'; break;
	case '\n': letter = 'n'; break;
	case '\r': letter = 'r'; break;
	case '\\': letter = '\\'; break;
	}
	out[0] = '\\';
	if (letter) {
		out[1] = letter;
		return 2;
	}
	out[1] = 'x';
	out[2] = hex_digit(c >> 4);
	out[3] = hex_digit(c);
	return 4;
}

/* Add as much of a part as fits. Returns the room that is left, 0 if the part was cut. */
static size_t add_some(struct buf *b, const unsigned char *p, size_t len, size_t room)
{
	char out[4];

	for (size_t i = 0; i < len; i++) {
		size_t n = is_plain(p[i]) ? 1 : escape(out, p[i]);

		if (n > room)
			return 0;
		room -= n;
		buf_add(b, n == 1 ? (const char *)&p[i] : out, n);
	}
	return room;
}

/* Add as much of the text as fits, and the mark. */
static void add_cut(struct buf *b, const struct slice *part, size_t n, size_t max)
{
	size_t room = max - CUT_MARK_LEN;
	uint32_t hash = hash_fnv32(NULL, 0);

	for (size_t i = 0; i < n; i++) {
		room = add_some(b, (const unsigned char *)part[i].p, part[i].len, room);
		hash = hash_fnv32_more(hash, part[i].p, part[i].len);
	}
	buf_addf(b, "\\.%08x", hash);
}

/* At most max. */
static size_t escaped_size(const unsigned char *p, size_t len, size_t max)
{
	size_t n = 0;
	char out[4];

	for (size_t i = 0; i < len && n <= max; i++) {
		size_t run = plain_run(p + i, len - i);

		i += run;
		n += run;
		if (i < len)
			n += escape(out, p[i]);
	}
	return MIN(n, max);
}

size_t field_parts_size(const struct slice *part, size_t n, size_t max)
{
	size_t size = 0;

	for (size_t i = 0; i < n && size < max; i++)
		size += escaped_size((const unsigned char *)part[i].p, part[i].len, max - size);
	return size;
}

static void add_whole(struct buf *b, const unsigned char *p, size_t len)
{
	char out[4];

	for (size_t i = 0; i < len; i++) {
		size_t run = plain_run(p + i, len - i);

		buf_add(b, p + i, run);
		i += run;
		if (i < len)
			buf_add(b, out, escape(out, p[i]));
	}
}

static bool is_all_plain(const unsigned char *p, size_t len)
{
	uint64_t not = 0;

	for (; len >= 8; p += 8, len -= 8)
		not |= not_plain(load8(p));
	return !(len ? not | not_plain(load_few(p, len)) : not);
}

bool field_add(struct buf *b, const void *text, size_t len, size_t max)
{
	struct slice whole = { text, len };

	if (len > max || !is_all_plain(text, len))
		return field_add_parts(b, &whole, 1, max);
	buf_add(b, text, len);
	return true;
}

bool field_add_parts(struct buf *b, const struct slice *part, size_t n, size_t max)
{
	/* Measured first, because the buffer may have room for max bytes only. */
	bool fits = field_parts_size(part, n, max + 1) <= max;

	if (!fits)
		add_cut(b, part, n, max);
	for (size_t i = 0; fits && i < n; i++)
		add_whole(b, (const unsigned char *)part[i].p, part[i].len);
	return fits;
}

/* One escape at p (after the backslash): its byte and length, 0 if it is not an escape. */
static size_t unescape(const char *p, size_t len, char *byte)
{
	if (!len)
		return 0;
	switch (*p) {
	case 't': *byte = '\t'; return 1;
	case 'n': *byte = '\n'; return 1;
	case 'r': *byte = '\r'; return 1;
	case '\\': *byte = '\\'; return 1;
	}
	if (*p != 'x' || len < 3 || hex_byte(p + 1) < 0)
		return 0;
	*byte = (char)hex_byte(p + 1);
	return 3;
}

size_t field_decode(char *text, size_t len, bool *cut)
{
	char *to = memchr(text, '\\', len);
	const char *from = to;
	const char *end = text + len;

	if (cut)
		*cut = false;
	if (!to)
		return len;
	while (from < end) {
		size_t n;

		if (*from != '\\') {
			const char *next = memchr(from, '\\', (size_t)(end - from));

			n = (size_t)((next ? next : end) - from);
			memmove(to, from, n);
			to += n;
			from += n;
			continue;
		}
		n = unescape(from + 1, (size_t)(end - from - 1), to);
		if (n) {
			to++;
			from += 1 + n;
		} else if (from + 1 < end && from[1] == '.') {
			/* "\." is as long as "~#", so the mark fits in place */
			*to++ = '~';
			*to++ = '#';
			from += 2;
			if (cut)
				*cut = true;
		} else {
			*to++ = *from++;
		}
	}
	return (size_t)(to - text);
}
