/* SPDX-License-Identifier: MIT */
#include "analyse/listing.h"

#include "base/array.h"
#include "base/trust.h"
#include "recording/growing.h"
#include "recording/layout.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void join(struct buf *out, const char *dir, const char *name)
{
	buf_clear(out);
	buf_adds(out, dir);
	if (!*dir || dir[strlen(dir) - 1] != '/')
		buf_addc(out, '/');
	buf_adds(out, name);
}

static bool is_dir(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

/* Reading all */

/* Takes over what the entry has. */
static int add_entry(struct listing *l, const char *name, struct listing_entry *e)
{
	struct listing_entry *added = NULL;

	e->result = summary_build_result(&e->rec, &e->status);
	e->running = !e->damaged && growing_runs(&e->rec);
	e->name = strdup(name);
	if (e->name)
		added = array_add(&l->entry, &l->n, sizeof *added);
	if (!added) {
		free(e->name);
		runs_release(&e->runs);
		recording_release(&e->rec);
		return -ENOMEM;
	}
	*added = *e;
	return 0;
}

int listing_add(struct listing *l, const char *name, struct recording *rec)
{
	struct listing_entry e = { .rec = *rec };

	*rec = (struct recording)RECORDING_INIT;
	return add_entry(l, name, &e);
}

/* A set has the circumstances of the run that stands for all. */
static int read_set(struct listing *l, const char *path, const char *name,
		    const struct recording_formats *formats)
{
	struct listing_entry e = { .rec = RECORDING_INIT, .set = true };
	int r = runs_read(&e.runs, path, formats, &e.error);
	struct buf run = BUF_INIT;

	if (!r && e.runs.n) {
		runs_add_path(&run, path, &e.runs.run[e.runs.shown]);
		r = buf_error(&run) ? -ENOMEM :
		    recording_read_build(&e.rec, run.data, formats, &e.error);
	}
	buf_release(&run);
	if (r == -ENOMEM) {
		runs_release(&e.runs);
		recording_release(&e.rec);
		return r;
	}
	e.damaged = r;
	return add_entry(l, name, &e);
}

static int read_recording(struct listing *l, const char *path, const char *name,
			  const struct recording_formats *formats)
{
	struct listing_entry e = { .rec = RECORDING_INIT };
	int r = runs_are_here(path) ? 1 : recording_read_build(&e.rec, path, formats, &e.error);

	if (r > 0)
		return read_set(l, path, name, formats);
	if (r == -ENOMEM || (r && !recording_is_here(path, formats))) {
		recording_release(&e.rec);
		return r == -ENOMEM ? r : 0;
	}
	e.damaged = r;
	return add_entry(l, name, &e);
}

static int read_entries(struct listing *l, DIR *dir, const struct recording_formats *formats)
{
	struct buf path = BUF_INIT;
	struct dirent *entry;
	struct stat st;
	int r = 0;

	while (!r && (errno = 0, entry = readdir(dir))) {
		if (entry->d_name[0] == '.' || !strcmp(entry->d_name, LAYOUT_LATEST))
			continue;
		join(&path, l->path, entry->d_name);
		r = buf_error(&path);
		/* a link may lead elsewhere, or is a second name */
		if (!r && !lstat(path.data, &st) && S_ISDIR(st.st_mode))
			r = read_recording(l, path.data, entry->d_name, formats);
	}
	if (!r && !entry && errno)
		r = -errno;
	buf_release(&path);
	return r;
}

static int by_start(const void *a, const void *b)
{
	const struct listing_entry *x = a, *y = b;
	int64_t start = x->damaged ? -1 : x->rec.start_wall_ns;
	int64_t other = y->damaged ? -1 : y->rec.start_wall_ns;

	if (start != other)
		return start < other ? -1 : 1;
	return strcmp(x->name, y->name);
}

int listing_read(struct listing *l, const char *path, const struct recording_formats *formats,
		 struct error *err)
{
	DIR *dir = opendir(path);
	int r;

	*l = (struct listing)LISTING_INIT;
	if (!dir)
		return error_sys(err, -errno, path, NULL);
	l->path = strdup(path);
	r = l->path ? read_entries(l, dir, formats) : -ENOMEM;
	closedir(dir);
	if (r)
		return error_sys(err, r, path, NULL);
	if (l->n)
		qsort(l->entry, l->n, sizeof *l->entry, by_start);
	return 0;
}

static void entry_release(struct listing_entry *e)
{
	free(e->name);
	runs_release(&e->runs);
	recording_release(&e->rec);
}

void listing_drop_sets(struct listing *l)
{
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++) {
		if (l->entry[i].set)
			entry_release(&l->entry[i]);
		else
			l->entry[n++] = l->entry[i];
	}
	l->n = n;
}

void listing_release(struct listing *l)
{
	for (size_t i = 0; i < l->n; i++)
		entry_release(&l->entry[i]);
	free(l->entry);
	free(l->path);
	*l = (struct listing)LISTING_INIT;
}

/* Finding one */

static bool is_set_or_recording(const char *path, const struct recording_formats *formats)
{
	return recording_is_here(path, formats) || runs_are_here(path);
}

/* No link, which leads who knows where. */
static bool is_recording(const char *path, const struct recording_formats *formats)
{
	struct stat st;

	return !lstat(path, &st) && S_ISDIR(st.st_mode) && is_set_or_recording(path, formats);
}

/* The recording in dir with the last name: names are times. */
static int find_last(struct buf *out, const char *dir,
		const struct recording_formats *formats)
{
	struct buf path = BUF_INIT, last = BUF_INIT;
	DIR *d = opendir(dir);
	struct dirent *entry;
	int r = d ? 0 : -errno;

	while (!r && (entry = readdir(d))) {
		if (entry->d_name[0] == '.' || !strcmp(entry->d_name, LAYOUT_LATEST) ||
		    strcmp(entry->d_name, buf_str(&last)) <= 0)
			continue;
		join(&path, dir, entry->d_name);
		r = buf_error(&path);
		if (r || !is_recording(path.data, formats))
			continue;
		buf_clear(&last);
		buf_adds(&last, entry->d_name);
		r = buf_error(&last);
	}
	if (d)
		closedir(d);
	if (!r && !last.len)
		r = -ENOENT;
	if (!r)
		join(out, dir, buf_str(&last));
	buf_release(&path);
	buf_release(&last);
	return r ? r : buf_error(out);
}

/* latest is followed if nobody else could make it lead elsewhere. */
static int find_newest(struct buf *out, const char *dir,
		const struct recording_formats *formats)
{
	struct error unused;

	join(out, dir, LAYOUT_LATEST);
	if (buf_error(out))
		return buf_error(out);
	if (is_set_or_recording(out->data, formats) && !trust_path(out->data, &unused))
		return 0;
	return find_last(out, dir, formats);
}

/* BASE here, or in the nearest directory above. */
static int find_base(struct buf *out)
{
	char at[PATH_MAX];
	char *slash;

	if (!getcwd(at, sizeof at))
		return -errno;
	join(out, ".", LAYOUT_BASE);
	if (is_dir(buf_str(out))) {
		buf_clear(out);
		buf_adds(out, LAYOUT_BASE);
		return buf_error(out);
	}
	while ((slash = strrchr(at, '/')) && at[1]) {
		slash[slash == at] = '\0';
		join(out, at, LAYOUT_BASE);
		if (buf_error(out) || is_dir(out->data))
			return buf_error(out);
	}
	return -ENOENT;
}

int listing_base(struct buf *out, const char *base, struct error *err)
{
	int r;

	buf_clear(out);
	if (base) {
		buf_adds(out, base);
		return buf_error(out);
	}
	r = find_base(out);
	if (!r)
		return trust_path(buf_str(out), err);
	if (r == -ENOENT)
		return error_set(err, r, NULL, 0, 0, "no " LAYOUT_BASE " here or above; "
				 "to record a build: buildbeat record -- make");
	return r ? error_sys(err, r, LAYOUT_BASE, NULL) : 0;
}

static int find_named(struct buf *out, const char *base, const char *name, struct error *err)
{
	struct buf dir = BUF_INIT;
	int r = listing_base(&dir, base, err);

	if (!r) {
		join(out, buf_str(&dir), name);
		r = buf_error(out);
		if (!r && (!is_dir(out->data) || (strchr(name, '/') && !runs_have(out->data))))
			r = -ENOENT;
	} else if (r != -ENOMEM && strchr(name, '/')) {
		r = -ENOENT;
	}
	buf_release(&dir);
	if (r == -ENOENT)
		return error_set(err, r, name, 0, 0, "no such recording; see: buildbeat list");
	return r && r != -EPERM ? error_sys(err, r, name, NULL) : r;
}

/* Something here that is no recording can have the name of one: a build of "lua" makes ./lua. */
static bool is_name(struct buf *out, const char *base, const char *what)
{
	struct error unused;

	return !strchr(what, '/') && !find_named(out, base, what, &unused);
}

int listing_find_set(struct buf *out, const char *base, const char *what,
		     const struct recording_formats *formats, struct error *err)
{
	struct buf dir = BUF_INIT;
	bool is_recording;
	struct stat st;
	int r;

	if (what && stat(what, &st))
		return find_named(out, base, what, err);
	if (what && !S_ISDIR(st.st_mode)) {
		if (is_name(out, base, what))
			return 0;
		return error_set(err, -ENOTDIR, what, 0, 0,
				 "not a recording: a recording is a directory");
	}
	if (!what) {
		r = listing_base(&dir, base, err);
		if (!r && (r = find_newest(out, buf_str(&dir), formats)))
			r = error_set(err, r, dir.data, 0, 0, "%s", r == -ENOENT ?
				      "no recordings in it; to record a build: "
				      "buildbeat record -- make" : strerror(-r));
		buf_release(&dir);
		return r;
	}
	is_recording = is_set_or_recording(what, formats);
	r = is_recording ? -ENOENT : find_newest(out, what, formats);
	/* without a recording in it, the directory itself: the reader reports what is wrong */
	if (r == -ENOENT && !is_recording && is_name(out, base, what))
		return 0;
	if (r == -ENOENT) {
		buf_clear(out);
		buf_adds(out, what);
		r = buf_error(out);
	}
	return r ? error_sys(err, r, what, NULL) : 0;
}

int listing_find(struct buf *out, const char *base, const char *what,
		 const struct recording_formats *formats, struct error *err)
{
	struct runs runs;
	int r = listing_find_set(out, base, what, formats, err);

	if (!r) {
		r = runs_choose(&runs, out, formats, err);
		runs_release(&runs);
	}
	return r;
}
