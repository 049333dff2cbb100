/* SPDX-License-Identifier: MIT */
#include "analyse/cmake_target.h"

#include "base/array.h"
#include "base/cursor.h"

#include <string.h>

#define FILES "CMakeFiles/"
#define DIRECTORY ".dir/"

/* TARGET of ".../CMakeFiles/TARGET.dir/...". */
static bool add_from_path(struct buf *b, const char *path)
{
	for (const char *p = path; (p = strstr(p, FILES)); p++) {
		const char *name = p + strlen(FILES), *end = strchr(name, '/');
		size_t n = end ? (size_t)(end - name) : 0, suffix = strlen(DIRECTORY) - 1;

		if ((p != path && p[-1] != '/') || n <= suffix ||
		    strncmp(end - suffix, DIRECTORY, suffix + 1))
			continue;
		buf_add(b, name, n - suffix);
		return true;
	}
	return false;
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* ".2b" is "+". */
static void add_decoded(struct buf *b, struct slice s)
{
	for (size_t i = 0; i < s.len; i++) {
		int high = s.p[i] == '.' && i + 2 < s.len ? hex_digit(s.p[i + 1]) : -1;
		int low = high >= 0 ? hex_digit(s.p[i + 2]) : -1;

		if (low < 0) {
			buf_addc(b, s.p[i]);
			continue;
		}
		buf_addc(b, (char)(high * 16 + low));
		i += 2;
	}
}

/* The configuration, which may be empty, is the last part of a rule since CMake 3.17. */
static struct slice without_configuration(const char *text)
{
	static const char *const names[] = { "_", "_Debug", "_Release", "_RelWithDebInfo",
					     "_MinSizeRel" };
	struct slice s = slice_of(text);

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		size_t n = strlen(names[i]);

		if (s.len > n && !memcmp(s.p + s.len - n, names[i], n))
			return (struct slice){ s.p, s.len - n };
	}
	return s;
}

bool cmake_target_add(struct buf *b, const struct task *t)
{
	static const char linker[] = "_LINKER__";
	const char *of_rule = strstr(t->key, linker);

	if (add_from_path(b, t->name) || add_from_path(b, t->file))
		return true;
	if (!of_rule || !of_rule[strlen(linker)])
		return false;
	add_decoded(b, without_configuration(of_rule + strlen(linker)));
	return true;
}
