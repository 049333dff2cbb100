/* SPDX-License-Identifier: MIT */
#include "convert/convert.h"

#include "base/array.h"
#include "base/buf.h"
#include "convert/converters.h"
#include "convert/gunzip.h"
#include "convert/ninja/join.h"
#include "convert/oe/oe.h"
#include "convert/zstd.h"
#include "recording/layout.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define HEAD_MAX 65536

#define CONVERTER(format, ...) { .name = #format, __VA_ARGS__ },
#define WORD(format, ...) #format,

const struct converter converter_list[] = { FORMATS(CONVERTER) { .name = NULL } };
const char *const converter_word[] = { FORMATS(WORD) NULL };

const struct converter *converter_named(const char *name)
{
	for (const struct converter *c = converter_list; c->name; c++) {
		if (!strcmp(c->name, name))
			return c;
	}
	return NULL;
}

static int check_paths(const struct converter *c, const char *const *path, size_t n,
		       struct error *err)
{
	return n == 1 || c->read_all ? 0 : error_set(err, -EINVAL, path[1], 0, 0,
						     "%s: one path at a time", c->name);
}

/* What the recording was imported from. */
static int add_imported(const struct converter *c, struct recording *rec, const char *path,
			struct error *err)
{
	struct build_line *grown;

	if (recording_build(rec, LAYOUT_IMPORTED))
		return 0;
	grown = array_grow(rec->build, rec->n_build, sizeof *grown);
	if (!grown)
		return error_sys(err, -ENOMEM, path, NULL);
	rec->build = grown;
	grown[rec->n_build++] = (struct build_line){ LAYOUT_IMPORTED, c->name };
	return 0;
}

int converter_read(const struct converter *c, struct recording *rec,
		   const char *const *path, size_t n, struct error *err)
{
	int r = check_paths(c, path, n, err);

	if (r)
		return r;
	r = c->read_all ? c->read_all(rec, path, n, err) : c->read(rec, path[0], err);
	if (r)
		return r;
	r = add_imported(c, rec, path[0], err);
	if (r)
		recording_release(rec);
	return r;
}

struct passing {
	const struct converter *converter;
	const char *path;
	converter_taker *take;
	void *context;
};

static int take_imported(void *context, struct recording *rec,
			 const struct recording_parts *parts, struct error *err)
{
	const struct passing *p = context;
	int r = add_imported(p->converter, rec, p->path, err);

	return r ? r : p->take(p->context, rec, parts, err);
}

int converter_pass(const struct converter *c, const char *const *path, size_t n,
		   converter_taker *take, void *context, struct error *err)
{
	struct passing p = { c, path[0], take, context };
	int r = check_paths(c, path, n, err);

	return r ? r : c->pass(path[0], take_imported, &p, err);
}

/* Read the first bytes of a file, and add a NUL. */
static ssize_t read_head(const char *path, char *to, struct error *err)
{
	ssize_t n = 1;
	size_t len = 0;
	int r;
	struct gunzip *g = gunzip_open(path, &r, err);

	if (!g)
		return r;
	while (n > 0 && len < HEAD_MAX) {
		n = gunzip_read(g, to + len, HEAD_MAX - len, err);
		len += n > 0 ? (size_t)n : 0;
	}
	gunzip_close(g);
	to[len] = '\0';
	return n < 0 ? n : (ssize_t)len;
}

static void unknown_format(const char *path, bool is_dir, struct error *err)
{
	struct buf formats = BUF_INIT;

	for (size_t i = 0; converter_list[i].name; i++)
		buf_addf(&formats, "%s%s", i ? ", " : "", converter_list[i].name);
	error_set(err, -EINVAL, path, 0, 0, "not a recording, and not a %s that another tool writes "
		  "about a build; the formats are %s", is_dir ? "directory" : "file", buf_str(&formats));
	buf_release(&formats);
}

const struct converter *converter_of(const char *path, struct error *err)
{
	struct convert_file file = { .path = path, .head = "" };
	const struct converter *c = NULL;
	char *head = NULL;
	struct stat st;
	ssize_t n = 0;

	if (stat(path, &st)) {
		error_sys(err, -errno, path, NULL);
		return NULL;
	}
	file.is_dir = S_ISDIR(st.st_mode);
	if (!S_ISREG(st.st_mode) && !file.is_dir) {
		error_set(err, -EINVAL, path, 0, 0, "a pipe can be read only once: name its "
			  "format with buildbeat import --from FORMAT");
		return NULL;
	}
	if (!file.is_dir) {
		file.head = head = malloc(HEAD_MAX + 1);
		n = head ? read_head(path, head, err) : error_sys(err, -ENOMEM, path, NULL);
	}
	if (n >= 0) {
		file.len = (size_t)n;
		for (c = converter_list; c->name && !c->recognise(&file);)
			c++;
		if (!c->name) {
			unknown_format(path, file.is_dir, err);
			c = NULL;
		}
	}
	free(head);
	return c;
}

const struct recording_formats convert_formats = {
	.codec = &zstd_codec,
	.foreign = &oe_foreign,
};

int converter_read_any(struct recording *rec, const char *path,
		       const struct recording_options *options, struct error *err)
{
	struct recording_options with = *options;
	const struct converter *c;
	struct error unused;
	struct stat st;

	if (!stat(path, &st) && !S_ISDIR(st.st_mode)) {
		c = converter_of(path, err);
		return c ? converter_read(c, rec, &path, 1, err) : -EINVAL;
	}
	c = recording_is_here(path, &convert_formats) ? NULL : converter_of(path, &unused);
	if (c)
		return converter_read(c, rec, &path, 1, err);
	with.formats = &convert_formats;
	with.add_lines = ninja_join_unnamed;
	return recording_read_as(rec, path, &with, err);
}
