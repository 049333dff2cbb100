/* SPDX-License-Identifier: MIT */
#include "base/json.h"

#include "base/utf8.h"

#include <assert.h>
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

static void add_quoted(struct buf *b, const char *s, size_t len)
{
	const unsigned char *p = (const unsigned char *)s;
	size_t i = 0;

	buf_addc(b, '"');
	while (i < len) {
		uint32_t code;
		size_t n = utf8_decode(p + i, len - i, &code);

		if (code >= UTF8_BAD_BYTE) {
			buf_adds(b, "\xef\xbf\xbd");
			i++;
			continue;
		}
		if (p[i] == '"' || p[i] == '\\') {
			buf_addc(b, '\\');
			buf_addc(b, (char)p[i]);
		} else if (p[i] == '\n') {
			buf_adds(b, "\\n");
		} else if (p[i] == '\t') {
			buf_adds(b, "\\t");
		} else if (utf8_is_unsafe(code) && code > 0xffff) {
			buf_addf(b, "\\u%04x\\u%04x", (unsigned)(0xd7c0 + (code >> 10)),
				 (unsigned)(0xdc00 + (code & 0x3ff)));
		} else if (utf8_is_unsafe(code)) {
			buf_addf(b, "\\u%04x", (unsigned)code);
		} else {
			buf_add(b, p + i, n);
		}
		i += n;
	}
	buf_addc(b, '"');
}

static void begin_value(struct json *j, const char *name)
{
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
	j->first = true;
}

static void close_value(struct json *j, char bracket)
{
	assert(j->depth);
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
