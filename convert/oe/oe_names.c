/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/cursor.h"
#include "base/hash.h"
#include "command/build_tool.h"
#include "convert/oe/oe_parts.h"

#include "base/str.h"
#include "base/utf8.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * The name of a task becomes the name of a file: no "/", not hidden, not "." or "..", only
 * printable UTF-8, and not too long. Readers of these directories unpack names that end like an
 * archive, and expect samples in names that end with .log: such a name gets a "_".
 */
#define NAME_MAX_LEN 200

static void add_safe(struct buf *b, const char *text, size_t len)
{
	const unsigned char *p = (const unsigned char *)text, *end = p + len;

	if (len && *p == '.') {
		buf_addc(b, '_');
		p++;
	}
	while (p < end) {
		size_t n = utf8_length(p, (size_t)(end - p));

		if (n == 1 && *p == '/')
			buf_addc(b, ':');
		else if (!n || *p <= ' ' || *p == 0x7f)
			buf_addc(b, '_');
		else
			buf_add(b, p, n);
		p += n ? n : 1;
	}
}

/* A hash distinguishes names that are too long and begin alike. */
static void add_short(struct buf *b, const char *text)
{
	size_t len = strlen(text), kept = len;

	if (len > NAME_MAX_LEN) {
		kept = NAME_MAX_LEN;
		while (kept && ((unsigned char)text[kept] & 0xc0) == 0x80)
			kept--;
	}
	add_safe(b, text, kept);
	if (kept < len)
		buf_addf(b, "~%08x", hash_fnv32(text, len));
}

static void add_file(struct buf *b, const struct task *t)
{
	static const char *const ends[] = { ".log", ".tar", ".tgz", ".gz" };
	size_t from = b->len;

	add_short(b, *t->name ? t->name : "unnamed");
	for (size_t i = 0; !buf_error(b) && i < ARRAY_SIZE(ends); i++) {
		if (slice_ends((struct slice){ b->data + from, b->len - from }, ends[i]))
			buf_addc(b, '_');
	}
	buf_addc(b, '\0');
}

/* Recipes: readers understand only NAME-VERSION-REVISION. */

static bool is_recipe(const char *name)
{
	const char *last = strrchr(name, '-'), *p = last;

	if (!last)
		return false;
	while (p > name && p[-1] != '-')
		p--;
	return p > name + 1 && p < last;
}

/* A directory below that of the build: the last part of the latter, and the path below it. */
static const char *shorten(const char *cwd, const char *top)
{
	size_t n = strlen(top);
	const char *slash = strrchr(top, '/');

	if (!n || !slash || !slash[1] || strncmp(cwd, top, n) || (cwd[n] && cwd[n] != '/'))
		return cwd + (*cwd == '/');
	return cwd + (slash + 1 - top);
}

static void add_place(struct buf *b, const struct recording *rec, const struct instance *i)
{
	const char *top = recording_build(rec, "cwd");
	const char *cwd = *i->cwd ? i->cwd : top;
	struct buf place = BUF_PART_OF(b);

	buf_adds(&place, cwd && cwd[strspn(cwd, "/")] ? shorten(cwd, top ? top : "") :
			 *i->tool ? i->tool : "build");
	for (char *p = place.data; p && *p; p++)
		*p = *p == '/' ? '-' : *p;
	add_short(b, buf_str(&place));
	buf_release(&place);
}

/* "4.3" of "4.3 (Debian)": the version of a recipe begins with a digit and has no dash. */
static void add_version(struct buf *b, const char *version)
{
	size_t n = strspn(version, "0123456789abcdefghijklmnopqrstuvwxyz"
			  "ABCDEFGHIJKLMNOPQRSTUVWXYZ._+~");

	buf_addc(b, '-');
	if (*version >= '0' && *version <= '9' && n < NAME_MAX_LEN / 8)
		buf_add(b, version, n);
	else
		buf_addc(b, '0');
	buf_adds(b, "-r0");
}

/* "lib-1.2-r0" of "mc:arm:lib-1.2-r0": BitBake writes the tasks of all multiconfigs there. */
static const char *without_multiconfig(const char *key)
{
	const char *colon = str_starts(key, "mc:") ? strchr(key + 3, ':') : NULL;

	return colon ? colon + 1 : key;
}

static void add_recipe(struct buf *b, const struct recording *rec, const struct task *t,
		       bool bitbake)
{
	const struct instance *i = &rec->instance[t->instance];
	size_t from = b->len;

	if (bitbake) {
		const char *key = without_multiconfig(t->key);

		add_short(b, *key ? key : "unknown");
	} else {
		add_place(b, rec, i);
		add_version(b, i->version);
	}
	if (!buf_error(b) && !is_recipe(b->data + from))
		buf_adds(b, "-0-r0");
	buf_addc(b, '\0');
}

/* Tasks */

static bool is_bitbake(const struct recording *rec, const struct task *t)
{
	return build_tool_of(rec->instance[t->instance].tool)->recipes;
}

static bool any_bitbake(const struct recording *rec)
{
	for (size_t i = 0; i < rec->n_tasks; i++) {
		if (is_bitbake(rec, &rec->task[i]))
			return true;
	}
	return false;
}

/* If there are tasks of BitBake, only those: readers do not know the commands inside them.
 * Otherwise the tasks that did not run a build, because the values of such a task are in its
 * parts. */
static bool is_written(const struct recording *rec, const struct task *t, bool bitbake)
{
	return t->start_us >= 0 && (bitbake ? is_bitbake(rec, t) : !t->hosts);
}

static int by_directory(const void *a, const void *b)
{
	const struct oe_entry *x = a, *y = b;
	int order = strcmp(x->dir, y->dir);

	if (!order)
		order = strcmp(x->file, y->file);
	return order ? order : array_order(x->task, y->task);
}

/* Offsets in the text, which moves while it grows. */
struct offsets {
	size_t dir, file;
};

/* All tasks of an instance have the same recipe. */
static void add_names(struct oe_entries *e, const struct recording *rec, struct offsets *at)
{
	size_t last_dir = 0;
	uint32_t last_instance = NO_INDEX;

	for (uint32_t i = 0; i < rec->n_tasks; i++) {
		const struct task *t = &rec->task[i];

		if (!is_written(rec, t, e->bitbake))
			continue;
		if (e->bitbake || t->instance != last_instance) {
			last_dir = e->text.len;
			last_instance = t->instance;
			add_recipe(&e->text, rec, t, e->bitbake);
		}
		at[e->n] = (struct offsets){ last_dir, e->text.len };
		add_file(&e->text, t);
		e->entry[e->n++].task = i;
	}
}

int oe_entries_make(struct oe_entries *e, const struct recording *rec)
{
	struct offsets *at = array_new(rec->n_tasks, sizeof *at);

	*e = (struct oe_entries){ .bitbake = any_bitbake(rec) };
	e->entry = array_new(rec->n_tasks, sizeof *e->entry);
	if (at && e->entry)
		add_names(e, rec, at);
	if (!at || !e->entry || buf_error(&e->text)) {
		free(at);
		e->n = 0;
		return -ENOMEM;
	}
	for (size_t i = 0; i < e->n; i++) {
		e->entry[i].dir = e->text.data + at[i].dir;
		e->entry[i].file = e->text.data + at[i].file;
	}
	if (e->n)
		qsort(e->entry, e->n, sizeof *e->entry, by_directory);
	free(at);
	return 0;
}

void oe_entries_release(struct oe_entries *e)
{
	free(e->entry);
	buf_release(&e->text);
}
