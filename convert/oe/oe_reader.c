/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/file.h"
#include "base/readfile.h"
#include "base/str.h"
#include "convert/converters.h"
#include "convert/oe/oe_parts.h"
#include "recording/recipe.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUILD_STATS OE_BUILD_STATS
#define BUILD_STATS_MAX ((size_t)4 << 20)
#define KEPT_MAX ((size_t)256 << 20)	/* of a file */
#define LIST_SIZE 32768
#define PROBED_DIRS 32
#define PROBED_FILES 8
#define FOREIGN_MAX 64		/* after so many files without a task a directory is no recipe */
#define TASK_START "Event: TaskStarted"

void oe_init(struct oe *o, struct reader *r)
{
	*o = (struct oe){ .r = r, .started_wall_us = -1, .elapsed_us = -1, .status = -1,
		.zero_wall_us = -1, .first_ms = -1, .last_ms = -1, .memory_kb = -1 };
	r->rec->source = oe_foreign.source;
}

void oe_release(struct oe *o)
{
	name_table_release(&o->names);
	free(o->name);
	free(o->window);
	for (size_t i = 0; i < OE_PRESSURES; i++)
		oe_series_release(&o->pressure[i]);
}

void oe_count(struct oe_count *c, const char *dir, const char *name)
{
	if (!c->n++)
		snprintf(c->first, sizeof c->first, "%s/%s", dir, name);
}

/* Files */

static int open_in(int dir_fd, const char *name, int flags)
{
	return openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | flags);
}

/* Does the text of a task file end as bitbake ends it? Then another read() is not necessary to know that. */
static bool is_whole(const char *text, size_t len)
{
	static const char last[] = "Ended: ";
	const char *before;

	if (len < 2 || text[len - 1] != '\n')
		return false;
	before = memrchr(text, '\n', len - 1);
	return before && text + len - before > (ptrdiff_t)sizeof last &&
	       !memcmp(before + 1, last, sizeof last - 1);
}

/* Read up to max bytes of a file. Returns how many, or a negative errno. */
static ssize_t read_start(int dir_fd, const char *name, char *to, size_t max)
{
	int fd = open_in(dir_fd, name, O_NONBLOCK);
	size_t got = 0;
	ssize_t n = fd < 0 ? -errno : 1;

	while (fd >= 0 && got < max && n > 0) {
		n = read(fd, to + got, max - got);
		if (n > 0)
			got += (size_t)n;
		if (n > 0 && got < max && is_whole(to, got))
			break;
		else if (n < 0)
			n = errno == EINTR ? 1 : -errno;
	}
	file_close(fd);
	return n < 0 ? n : (ssize_t)got;
}

/* Names in a directory. */

struct names {
	size_t n, cap;
	uint32_t *at;		/* in text */
	struct buf text;
	char *memory;		/* LIST_SIZE bytes for the kernel's answers */
};

static int add_name(struct names *l, const char *name)
{
	uint32_t *at = array_make_room(l->at, &l->cap, l->n, sizeof *at);

	if (!at)
		return -ENOMEM;
	l->at = at;
	if (l->text.len > UINT32_MAX / 2)
		return 0;
	at[l->n++] = (uint32_t)l->text.len;
	buf_add(&l->text, name, strlen(name) + 1);
	return buf_error(&l->text);
}

static const char *name_at(const struct names *l, size_t i)
{
	return l->text.data + l->at[i];
}

static int by_name(const void *a, const void *b, void *text)
{
	const uint32_t *x = a, *y = b;

	return strcmp((const char *)text + *x, (const char *)text + *y);
}

/* Sorted entries of that type, or of unknown type if the file system does not know it. Hidden
 * entries are skipped. */
static int list_entries(struct names *l, int fd, unsigned char type)
{
	ssize_t n = 0;
	int r = 0;

	l->n = 0;
	buf_clear(&l->text);
	while (!r && (n = getdents64(fd, l->memory, LIST_SIZE)) > 0) {
		for (ssize_t at = 0; !r && at < n;) {
			const struct dirent64 *e = (const void *)(l->memory + at);

			at += e->d_reclen;
			if (e->d_name[0] != '.' &&
			    (e->d_type == type || e->d_type == DT_UNKNOWN))
				r = add_name(l, e->d_name);
		}
	}
	if (l->n)
		qsort_r(l->at, l->n, sizeof *l->at, by_name, l->text.data);
	return r ? r : n < 0 ? -errno : 0;
}

static int names_init(struct names *l)
{
	*l = (struct names){ .text = BUF_INIT, .memory = malloc(LIST_SIZE) };
	return l->memory ? 0 : -ENOMEM;
}

static void names_release(struct names *l)
{
	free(l->at);
	free(l->memory);
	buf_release(&l->text);
}

/* Detection */

static bool begins(int dir_fd, const char *name, const char *text)
{
	char start[32];
	ssize_t n = read_start(dir_fd, name, start, sizeof start);

	return n >= (ssize_t)strlen(text) && !memcmp(start, text, strlen(text));
}

static bool is_of_tasks(struct names *l, int dir_fd, const char *name)
{
	int fd = open_in(dir_fd, name, O_DIRECTORY);
	bool found = false;

	if (fd < 0)
		return false;
	if (!list_entries(l, fd, DT_REG)) {
		for (size_t i = 0; !found && i < l->n && i < PROBED_FILES; i++)
			found = begins(fd, name_at(l, i), TASK_START);
	}
	close(fd);
	return found;
}

static bool has_tasks(int dir_fd)
{
	int fd = open_in(dir_fd, ".", O_DIRECTORY);
	struct names dirs = { 0 }, files = { 0 };
	bool found = false;

	if (fd < 0)
		return false;
	if (!names_init(&dirs) && !names_init(&files) && !list_entries(&dirs, fd, DT_DIR)) {
		for (size_t i = 0; !found && i < dirs.n && i < PROBED_DIRS; i++)
			found = is_of_tasks(&files, dir_fd, name_at(&dirs, i));
	}
	names_release(&files);
	names_release(&dirs);
	close(fd);
	return found;
}

/* Does the content look like a build of OpenEmbedded? */
static bool is_here(int dir_fd)
{
	return begins(dir_fd, BUILD_STATS, "Host Info: ") ||
	       begins(dir_fd, BUILD_STATS, "Build Started: ") || has_tasks(dir_fd);
}

/* Reading */

static int read_build_stats(struct oe *o, int dir_fd)
{
	char *text = malloc(BUILD_STATS_MAX);
	ssize_t n = text ? read_start(dir_fd, BUILD_STATS, text, BUILD_STATS_MAX) : -ENOMEM;
	int r;

	if (n < 0 && n != -ENOMEM)
		r = reader_unreadable(o->r, (int)n, BUILD_STATS);
	else
		r = n < 0 ? (int)n : oe_build_stats(o, text, (size_t)n);
	free(text);
	return r;
}

struct walk {
	struct oe *o;
	struct names dirs, files;
	char text[OE_TASK_FILE_MAX + 2];
};

static int list_of(struct walk *w, struct names *l, int fd, unsigned char type, const char *name)
{
	int r = list_entries(l, fd, type);

	return !r || r == -ENOMEM ? r : reader_unreadable(w->o->r, r, "%s", name);
}

static int read_file(struct walk *w, int fd, const char *recipe, const char *name)
{
	ssize_t n = read_start(fd, name, w->text, OE_TASK_FILE_MAX + 1);

	if (n == -EISDIR || n == -ELOOP) {
		oe_count(&w->o->foreign, recipe, name);
		return 0;
	}
	if (n < 0)
		return reader_unreadable(w->o->r, (int)n, "%s/%s", recipe, name);
	return oe_task_file(w->o, recipe, name, w->text, (size_t)n);
}

static int read_files(struct walk *w, int fd, const char *recipe)
{
	const struct recording *rec = w->o->r->rec;
	struct oe_count foreign = w->o->foreign;
	struct recipe parts;
	size_t before = rec->n_tasks;
	int r = list_of(w, &w->files, fd, DT_REG, recipe);

	if (w->o->kept)
		oe_keep_dir(w->o->kept, recipe);
	for (size_t i = 0; !r && i < w->files.n; i++) {
		if (i == FOREIGN_MAX && rec->n_tasks == before)
			break;
		r = read_file(w, fd, recipe, name_at(&w->files, i));
	}
	/* Without a task and a recipe's name it is not BitBake's: a directory of charts,
	 * perhaps. */
	recipe_parse(&parts, recipe);
	if (rec->n_tasks == before && !parts.revision.len)
		w->o->foreign = foreign;
	oe_finish_recipe(w->o, before);
	return r;
}

static int read_recipe(struct walk *w, int dir_fd, const char *name)
{
	int fd = open_in(dir_fd, name, O_DIRECTORY), r;
	const char *recipe;

	if (fd < 0)
		return errno == ENOTDIR || errno == ELOOP ? 0 :
		       reader_unreadable(w->o->r, -errno, "%s", name);
	recipe = arena_text(w->o->r->rec->arena, name, strlen(name));
	r = recipe ? read_files(w, fd, recipe) : -ENOMEM;
	close(fd);
	return r;
}

static int read_recipes(struct walk *w, int dir_fd)
{
	int r = list_of(w, &w->dirs, dir_fd, DT_DIR, ".");

	if (r)
		return r;
	for (size_t i = 0; i < w->dirs.n; i++) {
		const char *name = name_at(&w->dirs, i);

		if (strcmp(name, OE_PRESSURE_DIR))
			r = read_recipe(w, dir_fd, name);
		if (r)
			return r;
	}
	return 0;
}

static int read_tasks(struct oe *o, int dir_fd)
{
	struct walk *w = malloc(sizeof *w);
	int r = -ENOMEM;

	if (!w)
		return -ENOMEM;
	w->o = o;
	w->dirs = w->files = (struct names){ 0 };
	if (!names_init(&w->dirs) && !names_init(&w->files))
		r = read_recipes(w, dir_fd);
	names_release(&w->files);
	names_release(&w->dirs);
	free(w);
	return r ? r : oe_finish_tasks(o);
}

/* Files other than those of tasks */

static bool is_kept(const char *name)
{
	return !strcmp(name, BUILD_STATS) || str_starts(name, "host_stats_") ||
	       (str_ends(name, ".log") && (!strcmp(name, OE_VOLUMES_LOG) ||
		str_starts(name, "reduced_proc_") || str_starts(name, "proc_")));
}

static int keep_file(struct oe *o, int fd, const char *dir, const char *name)
{
	struct buf text = BUF_INIT;
	int r = readfile_at(&text, fd, name, KEPT_MAX);

	if (r == -EFBIG)
		r = reader_warn(o->r, "%s%s: larger than 256 MiB, not kept for an export", dir, name);
	else if (r == -ELOOP || r == -ENOENT || r == -EINVAL)
		r = 0;
	else if (r && r != -ENOMEM)
		r = reader_unreadable(o->r, r, "%s%s", dir, name);
	else if (!r && str_ends(name, ".log"))
		oe_keep_file(o->kept, name, text.data, text.len);
	else if (!r)
		oe_keep_free_text(o->kept, name, text.data, text.len);
	buf_release(&text);
	return r;
}

static int keep_dir(struct oe *o, struct names *files, int fd, bool pressure)
{
	int r = list_entries(files, fd, DT_REG);

	oe_keep_dir(o->kept, pressure ? OE_PRESSURE_DIR : "");
	if (r)
		return r;
	for (size_t i = 0; i < files->n; i++) {
		const char *name = name_at(files, i);

		if (pressure ? str_ends(name, ".log") : is_kept(name))
			r = keep_file(o, fd, pressure ? OE_PRESSURE_DIR "/" : "", name);
		if (r)
			return r;
	}
	return 0;
}

static int keep_files(struct oe *o, int dir_fd)
{
	int fd = open_in(dir_fd, ".", O_DIRECTORY), pressure_fd = -1, r = -ENOMEM;
	struct names files = { 0 };

	if (fd < 0)
		return reader_unreadable(o->r, -errno, ".");
	if (!names_init(&files))
		r = keep_dir(o, &files, fd, false);
	if (!r)
		pressure_fd = open_in(dir_fd, OE_PRESSURE_DIR, O_DIRECTORY);
	if (pressure_fd >= 0) {
		r = keep_dir(o, &files, pressure_fd, true);
		close(pressure_fd);
	}
	names_release(&files);
	close(fd);
	return r;
}

static int read_all(struct reader *reader, int dir_fd, bool build_only, struct buf *kept)
{
	struct oe o;
	int r;

	oe_init(&o, reader);
	o.kept = kept;
	r = read_build_stats(&o, dir_fd);
	if (!r && kept)
		r = keep_files(&o, dir_fd);
	if (!r && !build_only) {
		r = read_tasks(&o, dir_fd);
		if (!r)
			r = oe_logs(&o, dir_fd);
		if (!r)
			r = oe_join_pressure(&o);
	}
	if (!r)
		r = oe_finish_build(&o, build_only);
	if (!r && kept)
		r = buf_error(kept);
	oe_release(&o);
	return r;
}

static int read_dir(struct reader *reader, int dir_fd, bool build_only)
{
	return read_all(reader, dir_fd, build_only, NULL);
}

static int read_and_keep(struct reader *reader, int dir_fd, bool build_only)
{
	return read_all(reader, dir_fd, build_only, build_only ? NULL : &reader->rec->original);
}

const struct recording_foreign oe_foreign = {
	.name = "oe",
	.source = {
		.system = "OpenEmbedded",
		.disk_note = "from OpenEmbedded's files, whose disk rates are 100 times too high: "
			"corrected",
		.one_core = true,
		.recipe_keys = true,
	},
	.is_here = is_here,
	.read = read_dir,
};

/* As a format to import */

static const struct recording_formats oe_formats = { .foreign = &oe_foreign };

static bool is_oe(const char *path)
{
	return recording_is_here(path, &oe_formats) && !recording_is_here(path, NULL);
}

bool oe_recognise(const struct convert_file *file)
{
	return file->is_dir && is_oe(file->path);
}

int oe_read(struct recording *rec, const char *path, struct error *err)
{
	struct recording_foreign keeping = oe_foreign;
	const struct recording_formats with = { .foreign = &keeping };
	int r;

	keeping.read = read_and_keep;

	if (access(path, F_OK))
		return error_sys(err, -errno, path, NULL);
	if (!is_oe(path))
		return error_set(err, -EINVAL, path, 0, 0,
				 "not a buildstats directory of OpenEmbedded");
	r = recording_read(rec, path, &with, err);
	if (r)
		recording_release(rec);
	return r;
}
