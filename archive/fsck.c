/* SPDX-License-Identifier: MIT */
#include "archive/fsck.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define HEADS "refs/heads/"
#define REPLACED "refs/buildbeat/replaced/"

static void print(struct fsck *f, const char *what, va_list args)
{
	char text[1024];

	vsnprintf(text, sizeof text, what, args);
	f->out->found(f->out->context, text);
}

void fsck_found(struct fsck *f, const char *what, ...)
{
	va_list args;

	f->out->n++;
	va_start(args, what);
	print(f, what, args);
	va_end(args);
}

void fsck_remains(struct fsck *f, const char *what, ...)
{
	va_list args;

	f->out->left++;
	va_start(args, what);
	print(f, what, args);
	va_end(args);
}

/* A reference that a killed `buildbeat prune` left. */
static int check_temporary(struct fsck *f, const char *name)
{
	fsck_found(f, "%s: left by a killed buildbeat prune", name);
	return f->out->repair ? repo_remove(f->a, name, f->err) : 0;
}

static int check_reference(struct fsck *f, const char *name)
{
	if (!strncmp(name, REPLACED, strlen(REPLACED)))
		return check_temporary(f, name);
	return strncmp(name, HEADS, strlen(HEADS)) ? 0 : fsck_series(f, name);
}

static int check_references(struct fsck *f)
{
	git_strarray all;
	int r = git_reference_list(&all, f->a->git);

	if (r)
		return repo_fail(f->a, r, f->err, "cannot list branches");
	for (size_t i = 0; !r && i < all.count; i++)
		r = check_reference(f, all.strings[i]);
	git_strarray_dispose(&all);
	/* libgit2 does not list these. */
	for (size_t at = 0; !r && at < f->broken.len; at += strlen(f->broken.data + at) + 1)
		r = check_reference(f, f->broken.data + at);
	return r;
}

int archive_fsck(struct archive *a, struct archive_fsck *out, struct error *err)
{
	struct fsck f = { .a = a, .out = out, .err = err };
	int r;

	out->n = out->left = 0;
	if (out->repair && a->remote)
		return error_set(err, -EINVAL, a->path, 0, 0, "only a local archive can be repaired: "
				 "repair it on the server, then delete this copy");
	r = fsck_left(&f);
	/* The notes first, because those of rewritten builds are copied. */
	if (!r)
		r = fsck_notes(&f);
	if (!r)
		r = check_references(&f);
	buf_release(&f.broken);
	return r < 0 ? r : 0;
}
