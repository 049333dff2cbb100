/* SPDX-License-Identifier: MIT */
#include "analyse/path.h"

#include <string.h>

static bool last_is_up(const struct buf *b, size_t begin)
{
	size_t n = b->len - begin;

	return n >= 2 && !memcmp(b->data + b->len - 2, "..", 2) &&
	       (n == 2 || b->data[b->len - 3] == '/');
}

/* begin: behind the slash of an absolute path. */
static void add_up(struct buf *b, size_t begin)
{
	const char *slash;

	if (b->len == begin || last_is_up(b, begin)) {
		if (!begin)
			buf_adds(b, b->len ? "/.." : "..");
		return;
	}
	slash = memrchr(b->data + begin, '/', b->len - begin);
	buf_cut(b, slash ? (size_t)(slash - b->data) : begin);
}

static void add_components(struct buf *b, struct slice s, size_t begin)
{
	const char *p = s.p, *end = s.p + s.len;

	while (p < end) {
		const char *slash = memchr(p, '/', (size_t)(end - p));
		size_t n = (size_t)((slash ? slash : end) - p);

		if (n == 2 && p[0] == '.' && p[1] == '.') {
			add_up(b, begin);
		} else if (n && (n != 1 || *p != '.')) {
			if (b->len > begin)
				buf_addc(b, '/');
			buf_add(b, p, n);
		}
		p += n + 1;
	}
}

void path_join(struct buf *out, struct slice dir, struct slice name)
{
	size_t begin;

	buf_clear(out);
	if (name.len && *name.p == '/')
		dir.len = 0;
	if ((dir.len ? *dir.p : name.len ? *name.p : 0) == '/')
		buf_addc(out, '/');
	begin = out->len;
	add_components(out, dir, begin);
	add_components(out, name, begin);
	if (!out->len)
		buf_addc(out, '.');
}

bool path_is_below(const char *name)
{
	if (*name == '/')
		return false;
	for (const char *p = name; p; p = strchr(p, '/')) {
		p += *p == '/';
		if (*p == '/' || !*p || (*p == '.' && (p[1] == '/' || !p[1] || p[1] == '.')))
			return false;
	}
	return true;
}

void path_of_build(struct buf *out, const struct recording *rec)
{
	const char *cwd = recording_build(rec, "cwd");

	if (!cwd && rec->n_instances)
		cwd = rec->instance[0].cwd;
	buf_clear(out);
	if (cwd && *cwd)
		path_join(out, slice_of(cwd), (struct slice){ "", 0 });
}

struct slice path_relative(struct slice path, struct slice dir)
{
	if (!dir.len || path.len < dir.len || memcmp(path.p, dir.p, dir.len))
		return path;
	if (path.len == dir.len)
		return (struct slice){ ".", 1 };
	if (dir.p[dir.len - 1] == '/')
		return (struct slice){ path.p + dir.len, path.len - dir.len };
	if (path.p[dir.len] != '/')
		return path;
	return (struct slice){ path.p + dir.len + 1, path.len - dir.len - 1 };
}
