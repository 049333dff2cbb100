/* SPDX-License-Identifier: MIT */
#include "archive/pair.h"

#include "base/arena.h"
#include "base/field.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

const struct pair_format pair_build = { "buildbeat build 1", ": " };
const struct pair_format pair_totals = { "buildbeat totals 1", ": " };
const struct pair_format pair_tasks = { "buildbeat dictionary 1", "\t" };
const struct pair_format pair_packages = { "buildbeat packages 1", "\t" };

void pair_begin_write(struct buf *out, const struct pair_format *format)
{
	buf_adds(out, format->first_line);
	buf_addc(out, '\n');
}

static void add_field(struct buf *out, const char *text)
{
	field_add(out, text, strlen(text), SIZE_MAX - 1);
}

void pair_write(struct buf *out, const struct pair_format *format, const char *key,
		const char *value)
{
	add_field(out, key);
	buf_adds(out, format->separator);
	add_field(out, value);
	buf_addc(out, '\n');
}

int pair_continue(struct pair_reader *r, const struct pair_format *format, struct arena *texts,
		  const void *data, size_t len, size_t known, size_t lines)
{
	const char *from = (const char *)data + known;

	*r = (struct pair_reader){ .format = format, .line = (unsigned)lines };
	if (memchr(from, '\0', len - known))
		return -EINVAL;
	r->p = arena_text(texts, from, len - known);
	if (!r->p)
		return -ENOMEM;
	r->end = r->p + (len - known);
	return 0;
}

int pair_begin(struct pair_reader *r, const struct pair_format *format, struct arena *texts,
	       const void *data, size_t len)
{
	size_t first = strlen(format->first_line);
	const char *p = data;

	*r = (struct pair_reader){ .format = format, .line = 1 };
	if (len <= first || memcmp(p, format->first_line, first) || p[first] != '\n')
		return -EINVAL;
	return pair_continue(r, format, texts, data, len, first + 1, 1);
}

static const char *decode(char *text, size_t len)
{
	text[field_decode(text, len, NULL)] = '\0';
	return text;
}

int pair_next(struct pair_reader *r, struct pair *pair)
{
	char *line = r->p, *end, *value;

	if (r->p == r->end)
		return 0;
	r->line++;
	end = memchr(line, '\n', (size_t)(r->end - line));
	if (!end)
		return -EINVAL;
	*end = '\0';
	value = strstr(line, r->format->separator);
	if (!value || value == line)
		return -EINVAL;
	r->p = end + 1;
	pair->key = decode(line, (size_t)(value - line));
	value += strlen(r->format->separator);
	pair->value = decode(value, (size_t)(end - value));
	return 1;
}
