/* SPDX-License-Identifier: MIT */
#include "report/culprit_names.h"

#include "base/cursor.h"

#include <stdbool.h>
#include <string.h>

/* A path: its directory without the last slash, its name, and the name up to the first dot. */
struct place {
	struct slice dir, name, stem;
};

static struct slice last_part(struct slice path, struct slice *dir)
{
	const char *slash = path.len ? memrchr(path.p, '/', path.len) : NULL;

	*dir = (struct slice){ path.p, slash ? (size_t)(slash - path.p) : 0 };
	return slash ? (struct slice){ slash + 1, (size_t)(path.p + path.len - slash) - 1 } : path;
}

static bool take(struct slice *s, const char *begin)
{
	size_t n = strlen(begin);

	if (s->len < n || memcmp(s->p, begin, n))
		return false;
	s->p += n;
	s->len -= n;
	return true;
}

/* Removes prefixes of build tools: "./", "CMakeFiles/NAME.dir/". */
static struct slice strip(struct slice path)
{
	const char *dir;

	while (take(&path, "./") || take(&path, "../"))
		;
	dir = path.len ? memmem(path.p, path.len, ".dir/", 5) : NULL;
	if (dir && memmem(path.p, path.len, "CMakeFiles/", 11)) {
		path.len -= (size_t)(dir + 5 - path.p);
		path.p = dir + 5;
	}
	return path;
}

static struct place place_of(struct slice path)
{
	struct place p;
	const char *dot;

	p.name = last_part(strip(path), &p.dir);
	dot = p.name.len > 1 ? memchr(p.name.p + 1, '.', p.name.len - 1) : NULL;
	p.stem = (struct slice){ p.name.p, dot ? (size_t)(dot - p.name.p) : p.name.len };
	return p;
}

/* The path ends, or begins, with these whole parts. */
static bool ends_in(struct slice path, struct slice end)
{
	return path.len >= end.len && !memcmp(path.p + path.len - end.len, end.p, end.len) &&
	       (path.len == end.len || path.p[path.len - end.len - 1] == '/');
}

static bool begins_with(struct slice path, struct slice begin)
{
	return path.len >= begin.len && !memcmp(path.p, begin.p, begin.len) &&
	       (path.len == begin.len || path.p[begin.len] == '/');
}

static bool has_part(struct slice path, struct slice part)
{
	struct slice dir, name;

	for (; path.len; path = dir) {
		name = last_part(path, &dir);
		if (slice_equal(name, part))
			return true;
	}
	return false;
}

/* zlib_1.3.bb, zlib.inc, and what is in a directory zlib. */
static bool is_of_recipe(const struct place *file, struct slice recipe)
{
	if (!recipe.len)
		return false;
	if (has_part(file->dir, recipe))
		return true;
	return file->name.len > recipe.len && !memcmp(file->name.p, recipe.p, recipe.len) &&
	       (file->name.p[recipe.len] == '_' || file->name.p[recipe.len] == '.');
}

static bool steers_all(struct slice name)
{
	static const char *const names[] = {
		"BUILD", "BUILD.bazel", "CMakeLists.txt", "Cargo.lock", "Cargo.toml", "GNUmakefile",
		"Makefile", "Makefile.am", "SConstruct", "WORKSPACE", "configure", "configure.ac",
		"makefile", "meson.build", NULL
	};
	static const char *const ends[] = { ".bbclass", ".cmake", ".conf", ".mk", NULL };

	for (size_t i = 0; names[i]; i++) {
		if (slice_is(name, names[i]))
			return true;
	}
	for (size_t i = 0; ends[i]; i++) {
		if (slice_ends(name, ends[i]))
			return true;
	}
	return false;
}

static double likeness_of(const struct place *file, struct slice dir, const struct place *target)
{
	bool stem = file->stem.len && slice_equal(file->stem, target->stem);
	bool near = target->dir.len ? ends_in(file->dir, target->dir) :
		    dir.len ? ends_in(file->dir, dir) || ends_in(dir, file->dir) : !file->dir.len;
	struct slice in = target->dir.len ? target->dir : dir;

	if (stem && near)
		return 1;
	if (stem)
		return 0.6;
	if (in.len && (near || begins_with(file->dir, in)))
		return 0.5;
	return steers_all(file->name) ? 0.2 : 0;
}

double culprit_likeness(const char *path, const char *task)
{
	struct place file = place_of(slice_of(path));
	const char *colon = strstr(task, ": ");
	struct slice dir = { task, colon ? (size_t)(colon - task) : 0 };
	const char *rest = colon ? colon + 2 : task;
	struct place target = place_of(slice_of(rest));

	if (colon && !strncmp(rest, "do_", 3))
		return is_of_recipe(&file, dir) ? 0.9 : steers_all(file.name) ? 0.2 : 0;
	return likeness_of(&file, strip(dir), &target);
}
