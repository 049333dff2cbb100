/* SPDX-License-Identifier: MIT */
#include "live/catalogue.h"

#include "analyse/summary.h"
#include "archive/archive.h"
#include "archive/url.h"
#include "base/arena.h"
#include "base/array.h"
#include "base/file.h"
#include "base/str.h"
#include "convert/convert.h"
#include "recording/growing.h"
#include "recording/layout.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SECOND_NS 1000000000

/* Running ones first, then the newest. */
static int by_age(const void *a, const void *b)
{
	const struct catalogue_entry *x = a, *y = b;
	int order = array_order(y->running, x->running);

	if (!order)
		order = array_order(y->start_ns, x->start_ns);
	return order ? order : strcmp(y->id, x->id);
}

static int by_id(const void *a, const void *b)
{
	const struct catalogue_entry *x = a, *y = b;

	return strcmp(x->id, y->id);
}

/* One recording */

static int64_t changed_ns(const char *path)
{
	char build[PATH_MAX + sizeof LAYOUT_BUILD];
	struct stat st;

	snprintf(build, sizeof build, "%s/" LAYOUT_BUILD, path);
	return stat(build, &st) ? -1 : (int64_t)st.st_mtim.tv_sec * SECOND_NS + st.st_mtim.tv_nsec;
}

/* What of an ended recording was read before is still right unless `build` changed. */
static void look(struct catalogue_entry *e, const char *path, const struct catalogue_entry *before)
{
	struct recording rec = RECORDING_INIT;
	struct error unused;
	int status;

	e->changed_ns = changed_ns(path);
	if (before && !before->running && before->changed_ns == e->changed_ns) {
		*e = *before;
		return;
	}
	e->start_ns = -1;
	if (!recording_read_build(&rec, path, &convert_formats, &unused)) {
		e->start_ns = rec.start_wall_ns;
		e->running = growing_runs(&rec);
		e->good = summary_build_result(&rec, &status) == BUILD_OK;
	}
	recording_release(&rec);
}

static bool is_directory(const char *path)
{
	struct stat st;

	/* no links: they lead out of what is served */
	return !lstat(path, &st) && S_ISDIR(st.st_mode);
}

/* Adds dir/name if it is a recording. */
static int add_recording(struct catalogue *to, const char *dir, const char *name,
			 const struct catalogue_entry *before)
{
	struct catalogue_entry e = { .running = false }, *added;
	char path[PATH_MAX + sizeof e.id];

	if (strlen(name) >= sizeof e.id)
		return 0;
	snprintf(path, sizeof path, "%s/%s", dir, name);
	strcpy(e.id, name);
	if (strlen(path) >= PATH_MAX || !is_directory(path) ||
	    !recording_is_here(path, &convert_formats))
		return 0;
	look(&e, path, before);
	added = array_add(&to->entry, &to->n, sizeof *added);
	if (!added)
		return -ENOMEM;
	*added = e;
	return 0;
}

static int update_directory(struct catalogue *c, struct catalogue *to, struct error *err)
{
	DIR *dir = file_open_dir_at(AT_FDCWD, c->path);
	struct catalogue_entry key;
	struct dirent *entry;
	int r = 0;

	if (!dir)
		return error_sys(err, -errno, c->path, NULL);
	if (c->n)
		qsort(c->entry, c->n, sizeof *c->entry, by_id);
	while (!r && (errno = 0, entry = readdir(dir))) {
		if (entry->d_name[0] == '.' || !strcmp(entry->d_name, LAYOUT_LATEST))
			continue;
		snprintf(key.id, sizeof key.id, "%s", entry->d_name);
		r = add_recording(to, c->path, entry->d_name, !c->n ? NULL :
				  bsearch(&key, c->entry, c->n, sizeof key, by_id));
	}
	if (!r && errno)
		r = -errno;
	closedir(dir);
	return r ? error_sys(err, r, c->path, NULL) : 0;
}

static int update_recording(struct catalogue *c, struct catalogue *to, struct error *err)
{
	const char *slash = strrchr(c->path, '/');
	struct catalogue_entry *e;
	struct stat st;

	if (stat(c->path, &st))
		return errno == ENOENT ? 0 : error_sys(err, -errno, c->path, NULL);
	e = array_add(&to->entry, &to->n, sizeof *e);
	if (!e)
		return error_sys(err, -ENOMEM, c->path, NULL);
	*e = (struct catalogue_entry){ .running = false };
	snprintf(e->id, sizeof e->id, "%s", slash ? slash + 1 : c->path);
	look(e, c->path, c->n ? &c->entry[0] : NULL);
	return 0;
}

/* An archive */

static int add_builds(struct catalogue *to, struct archive *a, const char *ref, struct error *err)
{
	struct builds builds = { 0 };
	int r = archive_builds(a, ref, 0, &builds, err);

	for (size_t i = 0; !r && i < builds.n; i++) {
		const struct build *b = &builds.build[i];
		struct catalogue_entry *e = array_add(&to->entry, &to->n, sizeof *e);

		if (!e) {
			r = error_sys(err, -ENOMEM, ref, NULL);
			break;
		}
		*e = (struct catalogue_entry){ .start_ns = b->start_s < 0 ? -1 :
					       b->start_s * SECOND_NS };
		snprintf(e->id, sizeof e->id, "%s", b->id);
	}
	builds_release(&builds);
	return r;
}

static int update_archive(struct catalogue *c, struct catalogue *to, struct error *err)
{
	struct arena *texts = arena_new();
	struct archive *a = NULL;
	const char **ref;
	size_t n = 0;
	int r = texts ? archive_open(&a, c->path, ARCHIVE_READ, err) :
		error_sys(err, -ENOMEM, c->path, NULL);

	if (!r)
		r = archive_refs(a, texts, &ref, &n, err);
	for (size_t i = 0; !r && i < n; i++)
		r = add_builds(to, a, ref[i], err);
	archive_close(a);
	arena_free(texts);
	return r;
}

/* All */

static bool are_same(const struct catalogue *a, const struct catalogue *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++) {
		const struct catalogue_entry *x = &a->entry[i], *y = &b->entry[i];

		if (strcmp(x->id, y->id) || x->running != y->running ||
		    x->changed_ns != y->changed_ns)
			return false;
	}
	return true;
}

int catalogue_update(struct catalogue *c, struct error *err)
{
	struct catalogue to = { .kind = c->kind };
	int r = c->kind == CATALOGUE_DIRECTORY ? update_directory(c, &to, err) :
		c->kind == CATALOGUE_RECORDING ? update_recording(c, &to, err) :
		update_archive(c, &to, err);

	if (c->n)
		qsort(c->entry, c->n, sizeof *c->entry, by_age);
	if (r) {
		free(to.entry);
		return r;
	}
	if (to.n)
		qsort(to.entry, to.n, sizeof *to.entry, by_age);
	c->generation += !are_same(c, &to);
	free(c->entry);
	c->entry = to.entry;
	c->n = to.n;
	return 0;
}

/* A source tree is a repository, too. */
static bool is_archive(const char *path)
{
	struct arena *texts = arena_new();
	struct archive *a = NULL;
	const char **ref;
	struct error unused;
	size_t n = 0;

	if (texts && !archive_open(&a, path, ARCHIVE_READ, &unused))
		archive_refs(a, texts, &ref, &n, &unused);
	archive_close(a);
	arena_free(texts);
	return n;
}

static int open_path(struct catalogue *c, const char *path, struct error *err)
{
	struct error unused;
	struct stat st;

	if (!realpath(path, c->path) || stat(c->path, &st))
		return error_sys(err, -errno, path, NULL);
	if (!S_ISDIR(st.st_mode)) {
		if (!S_ISREG(st.st_mode) || !converter_of(c->path, &unused))
			return error_set(err, -EINVAL, path, 0, 0, "not a recording, a "
					 "directory of recordings or an archive");
		c->kind = CATALOGUE_RECORDING;
		return 0;
	}
	c->kind = recording_is_here(c->path, &convert_formats) ? CATALOGUE_RECORDING :
		  is_archive(c->path) ? CATALOGUE_ARCHIVE : CATALOGUE_DIRECTORY;
	return 0;
}

int catalogue_open(struct catalogue *c, const char *path, struct error *err)
{
	int r = 0;

	*c = (struct catalogue){ .kind = CATALOGUE_ARCHIVE };
	if (!url_is(path))
		r = open_path(c, path, err);
	else if (strlen(path) >= sizeof c->path)
		r = error_sys(err, -ENAMETOOLONG, path, NULL);
	else
		strcpy(c->path, path);
	return r || c->kind == CATALOGUE_ARCHIVE ? r : catalogue_update(c, err);
}

void catalogue_release(struct catalogue *c)
{
	free(c->entry);
	c->entry = NULL;
	c->n = 0;
}

const struct catalogue_entry *catalogue_find(const struct catalogue *c, const char *id)
{
	if (!id)
		return c->n ? &c->entry[0] : NULL;
	for (size_t i = 0; i < c->n; i++) {
		if (!strcmp(c->entry[i].id, id))
			return &c->entry[i];
	}
	return NULL;
}

bool catalogue_directory(const struct catalogue *c, const struct catalogue_entry *e, char *path)
{
	if (c->kind == CATALOGUE_ARCHIVE)
		return false;
	if (c->kind == CATALOGUE_RECORDING)
		strcpy(path, c->path);
	else
		snprintf(path, PATH_MAX, "%s/%s", c->path, e->id);
	return true;
}
