/* SPDX-License-Identifier: MIT */
#include "base/json.h"

#include "base/utf8.h"

#include <errno.h>
#include <math.h>
#include <string.h>

void json_init(struct json *j, struct buf *out, bool compact)
{
	*j = (struct json){ .out = out, .first = true, .compact = compact };
}

static void new_line(struct json *j)
{
	if (j->compact)
		return;
	buf_addc(j->out, '\n');
	for (unsigned i = 0; i < j->depth; i++)
		buf_adds(j->out, "  ");
}

#define EACH(byte) (UINT64_C(0x0101010101010101) * (byte))
#define TOP EACH(0x80)

/* Does one of eight bytes need more than a copy: is it a control character, a quote, a backslash or
 * not ASCII? Each term has the top bit of such a byte; a wrong top bit needs a lower one that is
 * right. */
static bool is_special(uint64_t x)
{
	uint64_t quote = x ^ EACH('"'), backslash = x ^ EACH('\\'), delete = x ^ EACH(0x7f);

	return (x | (x - EACH(' ')) | (quote - EACH(1)) | (backslash - EACH(1)) |
		(delete - EACH(1))) & TOP;
}

static char *put_unit(char *to, unsigned code)
{
	static const char digits[] = "0123456789abcdef";

	memcpy(to, "\\u", 2);
	for (unsigned i = 0; i < 4; i++)
		to[2 + i] = digits[code >> (12 - 4 * i) & 15];
	return to + 6;
}

/* One character, which takes at most six times the bytes that it has. */
static char *put_character(char *to, const char *p, size_t n, uint32_t code)
{
	static const char quick[] = { ['"'] = '"', ['\\'] = '\\', ['\n'] = 'n', ['\t'] = 't' };

	if (code >= UTF8_BAD_BYTE) {
		memcpy(to, UTF8_REPLACEMENT, 3);
		return to + 3;
	}
	if (code < sizeof quick && quick[code]) {
		*to++ = '\\';
		*to++ = quick[code];
		return to;
	}
	if (code >= ' ' && code < 0x7f) {
		*to = (char)code;
		return to + 1;
	}
	if (utf8_is_unsafe(code)) {
		if (code <= 0xffff)
			return put_unit(to, code);
		return put_unit(put_unit(to, 0xd7c0 + (code >> 10)), 0xdc00 + (code & 0x3ff));
	}
	memcpy(to, p, n);
	return to + n;
}

char *json_put_text(char *to, const char *s, size_t len)
{
	size_t i = 0;

	while (i < len) {
		uint64_t bytes = EACH(' ');
		uint32_t code;
		size_t n;

		for (; len - i >= sizeof bytes; i += sizeof bytes, to += sizeof bytes) {
			memcpy(&bytes, s + i, sizeof bytes);
			if (is_special(bytes))
				break;
			memcpy(to, &bytes, sizeof bytes);
		}
		n = len - i;
		if (n < sizeof bytes) {
			bytes = EACH(' ');
			memcpy(&bytes, s + i, n);
			memcpy(to, &bytes, sizeof bytes);
			if (!is_special(bytes))
				return to + n;
		}
		for (n = 0; n < sizeof bytes && i < len; n++) {
			size_t length = 1;

			code = (unsigned char)s[i];
			if (code >= 0x80)
				length = utf8_decode((const unsigned char *)s + i, len - i, &code);
			to = put_character(to, s + i, length, code);
			i += length;
		}
	}
	return to;
}

#define PIECE 4096		/* how much of a text is written at a time */

/* How much of it is a piece, which does not end in the middle of a character. */
static size_t piece_of(const char *s, size_t len)
{
	size_t n = PIECE;

	if (len <= PIECE)
		return len;
	while (n > PIECE - 3 && (s[n] & 0xc0) == 0x80)
		n--;
	return n;
}

static void add_quoted(struct buf *b, const char *s, size_t len)
{
	buf_addc(b, '"');
	while (len) {
		size_t n = piece_of(s, len);

		if (buf_reserve(b, JSON_TEXT_ROOM(n)))
			return;
		buf_cut(b, (size_t)(json_put_text(b->data + b->len, s, n) - b->data));
		s += n;
		len -= n;
	}
	buf_addc(b, '"');
}

#define CHECKED_DEPTH 64

static uint64_t bit_of(unsigned depth)
{
	return depth && depth <= CHECKED_DEPTH ? UINT64_C(1) << (depth - 1) : 0;
}

static void expect(struct json *j, bool right)
{
	if (__builtin_expect(right, 1))
		return;
	if (json_misused)
		json_misused();
	buf_fail(j->out, -EINVAL);
}

static void begin_value(struct json *j, const char *name)
{
	if (!j->depth)
		expect(j, j->first && !name);
	else if (j->depth <= CHECKED_DEPTH)
		expect(j, !(j->objects & bit_of(j->depth)) == !name);
	if (!j->first)
		buf_addc(j->out, ',');
	if (j->depth)
		new_line(j);
	j->first = false;
	if (name) {
		add_quoted(j->out, name, strlen(name));
		buf_adds(j->out, j->compact ? ":" : ": ");
	}
}

static void open_value(struct json *j, const char *name, char bracket)
{
	begin_value(j, name);
	buf_addc(j->out, bracket);
	j->depth++;
	if (bracket == '{')
		j->objects |= bit_of(j->depth);
	else
		j->objects &= ~bit_of(j->depth);
	j->first = true;
}

static void close_value(struct json *j, char bracket)
{
	expect(j, j->depth && (j->depth > CHECKED_DEPTH ||
			       !(j->objects & bit_of(j->depth)) == (bracket == ']')));
	if (j->depth)
		j->depth--;
	if (!j->first)
		new_line(j);
	buf_addc(j->out, bracket);
	j->first = false;
	if (!j->depth)
		buf_addc(j->out, '\n');
}

void json_object(struct json *j, const char *name)
{
	open_value(j, name, '{');
}

void json_object_end(struct json *j)
{
	close_value(j, '}');
}

void json_array(struct json *j, const char *name)
{
	open_value(j, name, '[');
}

void json_array_end(struct json *j)
{
	close_value(j, ']');
}

void json_strn(struct json *j, const char *name, const char *s, size_t len)
{
	begin_value(j, name);
	add_quoted(j->out, s, len);
}

void json_str(struct json *j, const char *name, const char *s)
{
	if (s)
		json_strn(j, name, s, strlen(s));
	else
		json_null(j, name);
}

void json_int(struct json *j, const char *name, int64_t n)
{
	begin_value(j, name);
	buf_addi(j->out, n);
}

void json_known(struct json *j, const char *name, int64_t n)
{
	if (n < 0)
		json_null(j, name);
	else
		json_int(j, name, n);
}

void json_bool(struct json *j, const char *name, bool b)
{
	begin_value(j, name);
	buf_adds(j->out, b ? "true" : "false");
}

void json_null(struct json *j, const char *name)
{
	begin_value(j, name);
	buf_adds(j->out, "null");
}

void json_real(struct json *j, const char *name, double n, int decimals)
{
	if (!isfinite(n)) {
		json_null(j, name);
		return;
	}
	begin_value(j, name);
	buf_addf(j->out, "%.*f", decimals, n);
}

void json_shortest(struct json *j, const char *name, double n)
{
	if (!isfinite(n)) {
		json_null(j, name);
		return;
	}
	begin_value(j, name);
	buf_addf(j->out, "%.12g", n);
}
