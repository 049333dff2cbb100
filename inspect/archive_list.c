/* SPDX-License-Identifier: MIT */
#include "inspect/archive_list.h"

#include "base/array.h"
#include "base/file.h"
#include "base/outdir.h"
#include "base/trust.h"
#include "inspect/archive_files.h"
#include "inspect/archive_format.h"
#include "inspect/archive_meta.h"
#include "recording/layout.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DAY_US (INT64_C(86400) * 1000000)

/* Listing */

/* A copy that lives as long as the list, NULL when out of memory. */
static const char *keep_fact(struct inspect_list *l, const struct archive_meta *m, const char *key)
{
	const char *text = archive_meta_text(m, key);

	return arena_text(l->arena, text, strlen(text));
}

static int fill_entry(struct inspect_entry *e, struct inspect_list *l, const struct archive_meta *m,
		      const char *path)
{
	*e = (struct inspect_entry){
		.path = arena_text(l->arena, path, strlen(path)), .host = keep_fact(l, m, "host"),
		.program = keep_fact(l, m, "program"), .command = keep_fact(l, m, "command"),
		.task = keep_fact(l, m, "task"), .why = keep_fact(l, m, "why"),
		.end = keep_fact(l, m, "end"),
		.heap = keep_fact(l, m, "heap"), .ancestors = keep_fact(l, m, "ancestors"),
		.pid = (int32_t)archive_meta_number(m, "pid", INT32_MAX, 0),
		.start_ticks = (uint64_t)archive_meta_number(m, "start_ticks", INT64_MAX, 0),
		.start_us = archive_meta_number(m, "start_us", ARCHIVE_TIME_MAX, 0),
		.start_ns = archive_meta_number(m, "start_ns", INT64_MAX, 0),
		.end_us = archive_meta_number(m, "end_us", ARCHIVE_TIME_MAX, -1),
		.n_snapshots = (size_t)archive_meta_number(m, "snapshots", UINT32_MAX, 0),
	};
	if (!e->path || !e->host || !e->program || !e->command || !e->task || !e->why || !e->end ||
	    !e->heap || !e->ancestors)
		return -ENOMEM;
	e->name = strrchr(e->path, '/') ? strrchr(e->path, '/') + 1 : e->path;
	e->runs = !archive_meta_find(m, "end") &&
		archive_meta_writer_runs(archive_meta_text(m, "inspector"), e->host, NULL);
	return 0;
}

/* The path of something in a directory. */
static int join_path(struct buf *path, const char *dir, const char *name)
{
	buf_clear(path);
	if (strcmp(dir, "."))
		buf_addf(path, "%s/", dir);
	buf_adds(path, name);
	return buf_error(path);
}

/* What is no archive, or of a later version, is not listed. */
static int add_archive(struct inspect_list *l, int fd, const char *path)
{
	struct archive_meta meta;
	struct inspect_entry *e;
	int r = archive_meta_read(&meta, fd, path, NULL);

	if (!r) {
		e = array_add(&l->entry, &l->n, sizeof *e);
		r = e ? fill_entry(e, l, &meta, path) : -ENOMEM;
		l->n -= e && r;
	}
	archive_meta_release(&meta);
	return r == -ENOMEM ? r : 0;
}

static int add_entry(struct inspect_list *l, const char *dir, int dir_fd, const char *name)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), r;
	struct buf path = BUF_INIT;

	if (fd < 0)
		return 0;
	r = join_path(&path, dir, name);
	if (!r)
		r = add_archive(l, fd, path.data);
	buf_release(&path);
	close(fd);
	return r;
}

static int newest_first(const void *a, const void *b)
{
	const struct inspect_entry *x = a, *y = b;
	int order = array_order(y->start_us, x->start_us);

	return order ? order : strcmp(y->path, x->path);
}

int inspect_list_add(struct inspect_list *l, const char *dir, struct error *err)
{
	DIR *d = opendir(dir);
	const struct dirent *entry;
	int r = 0;

	if (!d)
		return errno == ENOENT || errno == ENOTDIR ? 0 : error_sys(err, -errno, dir, NULL);
	if (!l->arena)
		l->arena = arena_new();
	r = l->arena ? 0 : -ENOMEM;
	while (!r && (entry = readdir(d)))
		if (entry->d_name[0] != '.')
			r = add_entry(l, dir, dirfd(d), entry->d_name);
	closedir(d);
	if (l->n)
		qsort(l->entry, l->n, sizeof *l->entry, newest_first);
	return r ? error_sys(err, r, dir, NULL) : 0;
}

/* The archives of the recordings in base. The link to the newest is none. */
static int add_recordings(struct inspect_list *l, const char *base, struct error *err)
{
	DIR *d = opendir(base);
	struct buf path = BUF_INIT;
	const struct dirent *entry;
	int r = 0;

	if (!d)
		return errno == ENOENT || errno == ENOTDIR ? 0 : error_sys(err, -errno, base, NULL);
	while (!r && (entry = readdir(d))) {
		if (entry->d_name[0] == '.' || !strcmp(entry->d_name, LAYOUT_LATEST))
			continue;
		r = join_path(&path, base, entry->d_name);
		buf_adds(&path, "/" INSPECT_ARCHIVES);
		r = buf_error(&path) ? error_sys(err, buf_error(&path), base, NULL) :
		    inspect_list_add(l, path.data, err);
	}
	closedir(d);
	buf_release(&path);
	return r;
}

static int add_below(struct inspect_list *l, const char *dir, const char *name, struct error *err,
		     int (*add)(struct inspect_list *l, const char *dir, struct error *err))
{
	struct buf path = BUF_INIT;
	int r = join_path(&path, dir, name);

	r = r ? error_sys(err, r, dir, NULL) : add(l, path.data, err);
	buf_release(&path);
	return r;
}

int inspect_list_below(struct inspect_list *l, const char *dir, struct error *err)
{
	int r = inspect_list_add(l, dir, err);

	if (!r)
		r = add_below(l, dir, INSPECT_ARCHIVES, err, inspect_list_add);
	if (!r)
		r = add_recordings(l, dir, err);
	if (!r)
		r = add_below(l, dir, LAYOUT_BASE, err, add_recordings);
	return r;
}

void inspect_list_release(struct inspect_list *l)
{
	arena_free(l->arena);
	free(l->entry);
	*l = (struct inspect_list)INSPECT_LIST_INIT;
}

/* Removing */

static int remove_entry(const struct inspect_entry *e, struct error *err)
{
	struct stat st;
	int r;

	if (e->runs)
		return error_set(err, -EBUSY, e->path, 0, 0, "the inspection still runs: cancel it "
				 "first, with buildbeat inspect cancel");
	r = trust_path(e->path, err);
	if (r)
		return r;
	outdir_discard(e->path);
	return lstat(e->path, &st) ? 0 :
	       error_set(err, -EACCES, e->path, 0, 0, "cannot remove the archive");
}

int inspect_archive_delete(const char *path, struct error *err)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), r;
	struct inspect_list l = { .arena = arena_new() };
	char where[PATH_MAX];

	r = fd < 0 ? -errno : l.arena ? file_absolute(where, path) : -ENOMEM;
	if (!r)
		r = add_archive(&l, fd, where);
	if (r)
		error_sys(err, r, path, NULL);
	else
		r = l.n ? remove_entry(&l.entry[0], err) :
		    error_set(err, -EINVAL, path, 0, 0, "not an archive of an inspection");
	file_close(fd);
	inspect_list_release(&l);
	return r;
}

/* Is it one of the newest `keep` of its program? Those before it in the list are newer. */
static bool among_newest(const struct inspect_list *l, size_t i, int64_t keep)
{
	int64_t newer = 0;

	for (size_t k = 0; k < i && newer < keep; k++)
		newer += !strcmp(l->entry[k].program, l->entry[i].program);
	return newer < keep;
}

static bool is_kept(const struct inspect_list *l, size_t i, const struct inspect_retention *limits,
		    int64_t now_us)
{
	const struct inspect_entry *e = &l->entry[i];

	if (e->runs)
		return true;
	if (limits->days && (now_us - e->start_us) / DAY_US >= limits->days)
		return false;
	return !limits->keep || among_newest(l, i, limits->keep);
}

int inspect_archive_retain(const char *dir, inspect_limits *limits_of, void *context,
			   int64_t now_us, size_t *removed, struct error *err)
{
	struct inspect_list l = INSPECT_LIST_INIT;
	size_t n = 0;
	int r = inspect_list_add(&l, dir, err);

	for (size_t i = 0; !r && i < l.n; i++) {
		struct inspect_retention limits = { 0 };

		limits_of(&limits, context, l.entry[i].host, l.entry[i].program);
		if (is_kept(&l, i, &limits, now_us))
			continue;
		r = remove_entry(&l.entry[i], err);
		n += !r;
	}
	if (removed)
		*removed = n;
	inspect_list_release(&l);
	return r;
}
