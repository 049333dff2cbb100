/* SPDX-License-Identifier: MIT */
#include "archive/build.h"
#include "base/array.h"

#include "base/arena.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HEADS "refs/heads/"
#define PARTS 3

#define FOREIGN_MAX 100		/* commits on top of the newest build that are not builds */

/* Characters that git allows anywhere in a name, except the slash between parts. */
static bool is_allowed(unsigned char c)
{
	return c > ' ' && c != 0x7f && !strchr("~^:?*[\\/%", c);
}

static void add_part(struct buf *ref, const char *part)
{
	static const char lock[] = ".lock";
	size_t n;

	if (!part || !*part)
		part = "unknown";
	n = strlen(part);
	for (size_t i = 0; i < n; i++) {
		bool plain = is_allowed((unsigned char)part[i]);

		if (part[i] == '.')
			plain = i && i + 1 < n && part[i + 1] != '.' && strcmp(part + i, lock);
		else if (part[i] == '-')
			plain = i;
		else if (part[i] == '@')
			plain = part[i + 1] != '{';
		if (plain)
			buf_addc(ref, part[i]);
		else
			buf_addf(ref, "%%%02X", (unsigned char)part[i]);
	}
}

void archive_ref(struct buf *ref, const char *host, const char *branch, const char *machine)
{
	add_part(ref, host);
	buf_addc(ref, '/');
	add_part(ref, branch);
	buf_addc(ref, '/');
	add_part(ref, machine);
}

/* Whether the branch has a build. Also true after an error, which is reported when the branch is
 * read. */
static bool is_series(struct archive *a, const git_oid *tip)
{
	git_oid at = *tip;
	struct error unused;
	int r = 0;

	for (int i = 0; !r && i < FOREIGN_MAX && !git_oid_is_zero(&at); i++) {
		struct build_place place;
		struct message m;

		r = build_find(a, &place, &m, &at, &unused);
		message_release(&m);
		at = place.parent;
	}
	return r;
}

struct names {
	const char **name;
	size_t n;
};

static int add_name(struct archive *a, struct arena *texts, struct names *names,
		    const char *full, struct error *err)
{
	const char **grown;
	size_t parts = 1;
	git_oid tip;
	int r;

	if (strncmp(full, HEADS, strlen(HEADS)))
		return 0;
	if (!git_reference_is_valid_name(full)) {
		error_set(&a->skipped, -EINVAL, a->path, 0, 0, "the branch '%.200s' is skipped: not a "
			  "valid name; git cannot delete it either: remove it from packed-refs",
			  full + strlen(HEADS));
		return 0;
	}
	full += strlen(HEADS);
	for (const char *p = full; *p; p++)
		parts += *p == '/';
	if (parts != PARTS)
		return 0;
	r = repo_tip(a, &tip, full, err);
	if (r || git_oid_is_zero(&tip) || !is_series(a, &tip))
		return r;
	grown = array_grow(names->name, names->n, sizeof *grown);
	if (!grown)
		return error_sys(err, -ENOMEM, a->path, NULL);
	names->name = grown;
	grown[names->n] = arena_text(texts, full, strlen(full));
	if (!grown[names->n])
		return error_sys(err, -ENOMEM, a->path, NULL);
	names->n++;
	return 0;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

bool archive_has_skipped(const struct archive *a, struct error *why)
{
	*why = a->skipped;
	return *a->skipped.message;
}

int archive_refs(struct archive *a, struct arena *texts, const char ***ref, size_t *n,
		 struct error *err)
{
	struct names names = { 0 };
	git_strarray all;
	int r = git_reference_list(&all, a->git);

	*ref = NULL;
	*n = 0;
	if (r)
		return repo_fail(a, r, err, "cannot list branches");
	for (size_t i = 0; !r && i < all.count; i++)
		r = add_name(a, texts, &names, all.strings[i], err);
	git_strarray_dispose(&all);
	if (r) {
		free(names.name);
		return r;
	}
	if (names.n)
		qsort(names.name, names.n, sizeof *names.name, by_text);
	*ref = names.name;
	*n = names.n;
	return names.name && arena_keep(texts, names.name) ?
	       error_sys(err, -ENOMEM, a->path, NULL) : 0;
}

bool archive_ref_fits(const char *ref, const char *what)
{
	size_t len = strlen(what);

	for (const char *p = ref; p; p = strchr(p, '/')) {
		p += *p == '/';
		if (!strncmp(p, what, len) && (!p[len] || p[len] == '/'))
			return true;
	}
	return false;
}

static void list_refs(struct buf *text, const char *const *ref, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (text->len > 300) {
			buf_addf(text, " and %zu more", n - i);
			return;
		}
		buf_addf(text, "%s%s", i ? ", " : "", ref[i]);
	}
}

static int choose_series(struct archive *a, const char *what, struct buf *ref,
			 const char **series, size_t n, struct error *err)
{
	struct buf text = BUF_INIT;
	size_t fits = 0;
	int r;

	for (size_t i = 0; i < n; i++) {
		if (what && !strcmp(series[i], what)) {
			buf_adds(ref, what);
			return buf_error(ref) ? error_sys(err, buf_error(ref), NULL, NULL) : 0;
		}
	}
	list_refs(&text, series, n);
	if (!n)
		r = error_set(err, -EINVAL, a->path, 0, 0, "has no builds: "
			      "buildbeat archive adds them");
	else
		r = error_set(err, -EINVAL, a->path, 0, 0, "has no series '%.100s'; it has %s",
			      what ? what : "", buf_str(&text));
	for (size_t i = 0; i < n; i++) {
		if (!what || archive_ref_fits(series[i], what))
			series[fits++] = series[i];
	}
	if (fits == 1) {
		buf_adds(ref, series[0]);
		r = buf_error(ref) ? error_sys(err, buf_error(ref), NULL, NULL) : 0;
	} else if (fits) {
		buf_clear(&text);
		list_refs(&text, series, fits);
		r = error_set(err, -EINVAL, a->path, 0, 0, "several series match: %s",
			      buf_str(&text));
	}
	buf_release(&text);
	return r;
}

int archive_choose(struct archive *a, const char *what, struct buf *ref, struct error *err)
{
	struct arena *texts = arena_new();
	const char **series;
	size_t n;
	int r;

	if (!texts)
		return error_sys(err, -ENOMEM, a->path, NULL);
	r = archive_refs(a, texts, &series, &n, err);
	if (!r)
		r = choose_series(a, what && *what ? what : NULL, ref, series, n, err);
	arena_free(texts);
	return r;
}
