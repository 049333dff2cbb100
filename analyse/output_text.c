/* SPDX-License-Identifier: MIT */
#include "analyse/output.h"

#include <string.h>

bool output_tool_line(struct slice s, struct slice *rest, uint64_t *level)
{
	struct cursor c;

	for (const struct build_tool *t = build_tools; t->name; t++) {
		cursor_init(&c, s.p, s.len);
		*level = 0;
		if (!t->messages || !cursor_literal(&c, t->name))
			continue;
		if (cursor_byte(&c, '[') && !(cursor_u64(&c, level) && cursor_byte(&c, ']')))
			continue;
		if (cursor_literal(&c, ": ")) {
			*rest = (struct slice){ c.p, (size_t)(c.end - c.p) };
			return true;
		}
	}
	return false;
}

struct slice output_plain(struct buf *text, struct slice line)
{
	const char *end = line.p + line.len, *from;

	while (end > line.p && end[-1] == '\r')
		end--;
	from = end > line.p ? memrchr(line.p, '\r', (size_t)(end - line.p)) : NULL;
	from = from ? from + 1 : line.p;
	if (end == from || !memchr(from, '\033', (size_t)(end - from)))
		return (struct slice){ from, (size_t)(end - from) };
	buf_clear(text);
	while (from < end) {
		const char *escape = memchr(from, '\033', (size_t)(end - from));

		buf_add(text, from, (size_t)((escape ? escape : end) - from));
		from = escape ? output_after_escape(escape, end) : end;
	}
	return (struct slice){ buf_str(text), text->len };
}

bool output_is_of_tool(struct slice line)
{
	struct slice rest;
	uint64_t level;

	return output_tool_line(line, &rest, &level);
}
