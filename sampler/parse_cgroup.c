/* SPDX-License-Identifier: MIT */
#include "sampler/parse.h"

#include <string.h>

static bool list_has(struct slice list, const char *word)
{
	struct cursor c;
	struct slice item;

	cursor_init(&c, list.p, list.len);
	while (cursor_until(&c, ',', &item))
		if (slice_is(item, word))
			return true;
	return false;
}

/* "4:memory:/path", v2 "0::/path" */
bool parse_cgroup_path(const struct root_text *t, const char *controller, struct slice *path)
{
	struct cursor c, l;
	struct slice line, id, list;
	bool complete;

	root_text_cursor(t, &c);
	while (cursor_line(&c, &line, &complete)) {
		bool fits;

		cursor_init(&l, line.p, line.len);
		if (!cursor_until(&l, ':', &id) || !cursor_until(&l, ':', &list))
			continue;
		fits = controller ? list_has(list, controller) : slice_is(id, "0") && !list.len;
		if (!fits || l.p == l.end || *l.p != '/')
			continue;
		*path = (struct slice){ l.p, (size_t)(l.end - l.p) };
		return true;
	}
	return false;
}

static bool is_octal(char c)
{
	return c >= '0' && c <= '7';
}

/* Replace \040 and the like. False if the result does not fit. */
static bool unescape(struct slice in, char *out, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < in.len; i++) {
		char c = in.p[i];

		if (c == '\\' && in.len - i > 3 && is_octal(in.p[i + 1]) &&
		    is_octal(in.p[i + 2]) && is_octal(in.p[i + 3])) {
			c = (char)((in.p[i + 1] - '0') * 64 + (in.p[i + 2] - '0') * 8 +
				   (in.p[i + 3] - '0'));
			i += 3;
		}
		if (!c || n + 1 >= size)
			return false;
		out[n++] = c;
	}
	out[n] = '\0';
	return n > 0;
}

/* "31 23 0:28 ROOT POINT options tag... - type source super-options" */
static bool read_mount(struct slice line, const char *controller, struct cgroup_mount *m)
{
	struct cursor c;
	struct slice root, point, word;

	cursor_init(&c, line.p, line.len);
	for (size_t i = 0; i < 3; i++)
		if (!cursor_until(&c, ' ', &word))
			return false;
	if (!cursor_until(&c, ' ', &root) || !cursor_until(&c, ' ', &point))
		return false;
	do {
		if (!cursor_until(&c, ' ', &word))
			return false;
	} while (!slice_is(word, "-"));
	if (!cursor_until(&c, ' ', &word) || !slice_is(word, controller ? "cgroup" : "cgroup2"))
		return false;
	if (!cursor_until(&c, ' ', &word) || !cursor_until(&c, ' ', &word))
		return false;
	return (!controller || list_has(word, controller)) &&
	       unescape(root, m->root, sizeof m->root) &&
	       unescape(point, m->point, sizeof m->point);
}

bool parse_cgroup_mount(const struct root_text *t, const char *controller, struct cgroup_mount *m)
{
	struct cursor c;
	struct slice line;
	bool complete;

	root_text_cursor(t, &c);
	while (cursor_line(&c, &line, &complete))
		if (read_mount(line, controller, m))
			return true;
	return false;
}

/* v2: "8:0 rbytes=1 wbytes=2 rios=..."; v1: "8:0 Read 1", "8:0 Write 2". The numbers of one line
 * are added to bytes. */
static bool read_io(struct cursor *line, uint64_t bytes[2])
{
	static const char *const keys[2][2] = { { "rbytes=", "wbytes=" }, { "Read ", "Write " } };
	struct slice word;
	bool known = false;

	for (;;) {
		uint64_t n;
		size_t i;

		cursor_blanks(line);
		for (i = 0; i < 4; i++)
			if (cursor_literal(line, keys[i / 2][i % 2]))
				break;
		if (i < 4 && cursor_u64(line, &n)) {
			bytes[i % 2] += n;
			known = true;
		} else if (!cursor_word(line, &word, 256)) {
			return known;
		}
	}
}

size_t parse_io_stat(const struct root_text *text, struct roster *r, uint64_t bytes[2])
{
	struct cursor c, l;
	struct slice line, name;
	bool complete;
	size_t n = 0;

	bytes[0] = bytes[1] = 0;
	root_text_cursor(text, &c);
	while (cursor_line(&c, &line, &complete)) {
		cursor_init(&l, line.p, line.len);
		if (!cursor_word(&l, &name, GROUP_NAME_MAX - 1) ||
		    !memchr(name.p, ':', name.len))
			continue;
		if (roster_counts(r, name) && read_io(&l, bytes))
			n++;
	}
	return n;
}
