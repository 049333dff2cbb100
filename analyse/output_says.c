/* SPDX-License-Identifier: MIT */
#include "analyse/output_says.h"

#include <string.h>
#include <strings.h>

static bool is_path(struct slice s)
{
	static const bool never[256] = {
		['"'] = true, ['\''] = true, ['`'] = true, ['<'] = true, ['>'] = true, ['|'] = true,
		[';'] = true, ['*'] = true, ['?'] = true, ['='] = true,
	};
	bool letter = false, sign = false;

	for (size_t i = 0; i < s.len; i++) {
		unsigned char c = (unsigned char)s.p[i];

		if (c <= ' ' || never[c])
			return false;
		letter |= (c | 32) >= 'a' && (c | 32) <= 'z';
		sign |= c == '.' || c == '/';
	}
	return letter && sign && s.p[s.len - 1] != '/';
}

/* make warns about makefiles itself. */
static bool is_makefile(struct slice path)
{
	struct slice base = slice_base(path);
	const char *dot = memrchr(base.p, '.', base.len);
	size_t n = dot ? (size_t)(base.p + base.len - dot) : 0;

	return (base.len >= 8 && !strncasecmp(base.p, "makefile", 8)) ||
		(base.len >= 11 && !strncasecmp(base.p, "gnumakefile", 11)) ||
		(n == 3 && !memcmp(dot, ".mk", 3)) || (n == 4 && !memcmp(dot, ".mak", 4)) ||
		(n == 2 && !memcmp(dot, ".d", 2));
}

static bool has_text(struct cursor c, const char *text)
{
	return memmem(c.p, (size_t)(c.end - c.p), text, strlen(text));
}

/* "FILE:LINE", of which c is behind FILE. */
static bool read_place(struct cursor *c, struct output_saying *s)
{
	struct cursor at = *c;

	s->column = 0;
	if (!cursor_byte(&at, ':') || !cursor_u64(&at, &s->line))
		return false;
	*c = at;
	if (c->p + 1 < c->end && *c->p == ':' && c->p[1] >= '0' && c->p[1] <= '9') {
		c->p++;
		cursor_u64(c, &s->column);
	}
	return true;
}

static bool is_of_linker(struct cursor c)
{
	return has_text(c, "undefined reference to") || has_text(c, "multiple definition of") ||
		has_text(c, "first defined here");
}

/* Everything up to the next ":" or "(", as a path. */
static bool read_path(struct cursor *c, struct slice *path)
{
	const char *p = c->p;

	while (p < c->end && *p != ':' && *p != '(' && (unsigned char)*p > ' ')
		p++;
	*path = (struct slice){ c->p, (size_t)(p - c->p) };
	if (p == c->end || (*p != ':' && *p != '(') || !path->len || !is_path(*path))
		return false;
	c->p = p;
	return true;
}

/* What is behind FILE: ":1:24: error:", "(1,24): error", ": In function", ":(.text+0x1)". */
static void read_message(struct output_saying *s, struct cursor c)
{
	struct cursor place = c;

	if (cursor_literal(&c, ":(.")) {
		s->what = has_text(c, "+0x") ? SAYS_MESSAGE : SAYS_NOTHING;
		s->linker = true;
	} else if (cursor_literal(&c, ": In ") || cursor_literal(&c, ": At ")) {
		s->what = c.end[-1] == ':' ? SAYS_FUNCTION : SAYS_NOTHING;
	} else if (cursor_byte(&c, '(')) {
		if (cursor_u64(&c, &s->line) && (!cursor_byte(&c, ',') || cursor_u64(&c, &s->column)) &&
		    cursor_byte(&c, ')'))
			s->what = SAYS_MESSAGE;
	} else if (read_place(&place, s) && cursor_byte(&place, ':') && !is_makefile(s->path)) {
		bool plain = cursor_literal(&place, " warning: ") || cursor_literal(&place, " note: ");

		s->what = plain || !has_text(place, "*** ") ? SAYS_MESSAGE : SAYS_NOTHING;
		s->linker = !plain && is_of_linker(place);
	}
}

/* "gcc: error: bad.c: No such file or directory", "/usr/bin/ld: bad.o: in function `f':" */
static void read_of_program(struct output_saying *s, struct slice program, struct cursor c)
{
	bool linker = program.len >= 2 && !memcmp(program.p + program.len - 2, "ld", 2);

	if (linker && cursor_literal(&c, "cannot find ")) {
		const char *end = memchr(c.p, ':', (size_t)(c.end - c.p));

		s->path = (struct slice){ c.p, (size_t)((end ? end : c.end) - c.p) };
		s->what = s->path.len > 2 && !memchr(s->path.p, ' ', s->path.len) ? SAYS_FUNCTION :
			SAYS_NOTHING;
		s->linker = true;
		return;
	}
	cursor_literal(&c, "fatal ");
	if (!cursor_literal(&c, "error: "))
		cursor_literal(&c, "warning: ");
	if (!read_path(&c, &s->path) || is_makefile(s->path))
		return;
	s->linker = linker;
	if (linker && (cursor_literal(&c, ":(.") || read_place(&c, s) || cursor_literal(&c, ": ")))
		s->what = SAYS_LINKER;
	else if (cursor_literal(&c, ": "))
		s->what = SAYS_FUNCTION;
}

/* "  CC bad.o", "[  5%] Building C object bad.o" */
static void read_announcement(struct output_saying *s, struct cursor c)
{
	const char *end = c.end, *word;
	bool progress;

	while (end > c.p && end[-1] == ' ')
		end--;
	for (word = end; word > c.p && word[-1] != ' '; word--)
		;
	if (word == c.p)
		return;
	progress = cursor_byte(&c, '[');
	if (progress) {
		cursor_blanks(&c);
		if (!cursor_until(&c, '%', &s->path) || !cursor_literal(&c, "] "))
			return;
	} else {
		const char *p = c.p;

		while (p < c.end && ((*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') || *p == '_' ||
				     *p == '+' || *p == '-'))
			p++;
		if (p < c.p + 2 || p == c.end || *p != ' ' || *c.p < 'A')
			return;
	}
	s->path = (struct slice){ word, (size_t)(end - word) };
	if (is_path(s->path))
		s->what = SAYS_ANNOUNCEMENT;
}

static void read_indented(struct output_saying *s, struct cursor c)
{
	const char *quote;

	cursor_blanks(&c);
	if (cursor_literal(&c, "--> ")) {
		if (read_path(&c, &s->path) && read_place(&c, s))
			s->what = SAYS_ARROW;
	} else if (cursor_literal(&c, "File \"")) {
		quote = memchr(c.p, '"', (size_t)(c.end - c.p));
		if (!quote || (size_t)(c.end - quote) < 9 || memcmp(quote, "\", line ", 8))
			return;
		s->path = (struct slice){ c.p, (size_t)(quote - c.p) };
		s->what = s->path.len && is_path(s->path) ? SAYS_FRAME : SAYS_NOTHING;
	} else {
		read_announcement(s, c);
	}
}

struct output_saying output_says(struct slice text)
{
	struct output_saying s = { 0 };
	struct slice program;
	struct cursor c;
	const char *p;

	cursor_init(&c, text.p, text.len);
	if (!text.len)
		return s;
	if (*text.p == ' ' || *text.p == '\t') {
		read_indented(&s, c);
		return s;
	}
	if (*text.p == '[') {
		read_announcement(&s, c);
		return s;
	}
	if (cursor_literal(&c, "In file included from ")) {
		if (read_path(&c, &s.path) && read_place(&c, &s))
			s.what = SAYS_INCLUDE;
		return s;
	}
	for (p = c.p; p < c.end && *p != ':' && (unsigned char)*p > ' '; p++)
		;
	program = (struct slice){ c.p, (size_t)(p - c.p) };
	if (read_path(&c, &s.path))
		read_message(&s, c);
	if (s.what == SAYS_NOTHING && p + 2 < c.end && p[0] == ':' && p[1] == ' ' && p > text.p) {
		s = (struct output_saying){ 0 };
		c.p = p + 2;
		read_of_program(&s, program, c);
	}
	return s;
}

