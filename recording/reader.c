/* SPDX-License-Identifier: MIT */
#include "recording/reader.h"

#include "base/array.h"
#include "base/field.h"
#include "base/file.h"
#include "base/str.h"
#include "recording/layout.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WARNINGS_MAX 100

void reader_init(struct reader *r, struct recording *rec, struct error *err)
{
	*rec = (struct recording){ .start_wall_ns = -1, .start_mono_ns = -1,
		.end_us = -1, .last_us = 0, .interval_ms = -1 };
	*r = (struct reader){ .rec = rec, .err = err };
	follow_init(&r->follow, rec, &reader_to, r);
}

int reader_warn(struct reader *r, const char *format, ...)
{
	struct recording *rec = r->rec;
	struct warning *grown;
	va_list ap;

	if (rec->n_warnings >= WARNINGS_MAX)
		return 0;
	grown = array_grow(rec->warning, rec->n_warnings, sizeof *grown);
	if (!grown)
		return -ENOMEM;
	rec->warning = grown;
	va_start(ap, format);
	vsnprintf(grown[rec->n_warnings++].text, sizeof grown->text, format, ap);
	va_end(ap);
	return 0;
}

int reader_unreadable(struct reader *r, int code, const char *format, ...)
{
	char name[256], path[PATH_MAX];
	va_list ap;

	va_start(ap, format);
	vsnprintf(name, sizeof name, format, ap);
	va_end(ap);
	if (code == -ENOENT)
		return reader_warn(r, "%s: %s", name, strerror(ENOENT));
	snprintf(path, sizeof path, "%s/%s", r->rec->path ? r->rec->path : ".", name);
	return error_sys(r->err, code, path, "cannot read");
}

void reader_saw(struct reader *r, int64_t time_us)
{
	if (time_us > r->rec->last_us)
		r->rec->last_us = time_us;
}

const char *reader_string(struct slice text)
{
	/* The parsers own the memory; slices only look const. */
	char *p = (char *)(uintptr_t)text.p;

	p[field_decode(p, text.len, NULL)] = '\0';
	return p;
}

/* "buildbeat NAME VERSION", then the end or a blank. */
static bool parse_header(struct slice line, const char *name, uint64_t *version,
			 struct slice *rest)
{
	struct cursor c;

	cursor_init(&c, line.p, line.len);
	if (!cursor_literal(&c, "buildbeat ") || !cursor_literal(&c, name) ||
	    !cursor_byte(&c, ' ') || !cursor_u64(&c, version))
		return false;
	if (!cursor_at_end(&c) && !cursor_byte(&c, ' '))
		return false;
	*rest = (struct slice){ c.p, (size_t)(c.end - c.p) };
	return true;
}

bool reader_parse_header(struct slice line, const char *name, struct slice *rest)
{
	uint64_t version;

	return parse_header(line, name, &version, rest) && version == 1;
}

int reader_header(struct reader *r, const struct slice *line, const char *file,
		  const char *name, struct slice *rest)
{
	uint64_t version;

	if (!line || !parse_header(*line, name, &version, rest) || version < 1)
		return reader_warn(r, "%s: its first line is not that of a recording, left out",
				   file);
	if (version > 1)
		return error_set(r->err, -EINVAL, file, 1, 0,
				 "format version %llu is newer than this program's (1)",
				 (unsigned long long)version);
	r->n_understood++;
	return 1;
}

void reader_damaged(struct reader_damage *d, unsigned line)
{
	if (!d->n++)
		d->first_line = line;
}

int reader_report_damage(struct reader *r, const struct reader_damage *d, const char *file)
{
	int error = 0;

	if (d->n == 1)
		error = reader_warn(r, "%s:%u: damaged line left out", file, d->first_line);
	else if (d->n)
		error = reader_warn(r, "%s:%u: damaged lines left out: this and %u more",
				    file, d->first_line, d->n - 1);
	if (!error && d->torn)
		error = reader_warn(r, "%s: its last line is truncated and was ignored", file);
	if (!error && d->skipped)
		error = reader_warn(r, "%s: %u samples after damaged lines left out", file, d->skipped);
	return error;
}

bool reader_line(struct cursor *c, struct slice *line, struct reader_damage *d)
{
	bool complete;

	while (cursor_line(c, line, &complete)) {
		if (!complete)
			d->torn = true;
		else if (line->len > FEED_LINE_MAX)
			reader_damaged(d, c->line);
		else
			return true;
	}
	return false;
}

bool reader_feed_line(struct feed *f, struct slice *line, struct reader_damage *d)
{
	for (;;) {
		switch (feed_line(f, line)) {
		case FEED_WHOLE:
			return true;
		case FEED_TORN:
			d->torn = true;
			break;
		case FEED_TOO_LONG:
			reader_damaged(d, f->line);
			break;
		case FEED_END:
			return false;
		}
	}
}

/* Files */

bool reader_is_tasks(const char *name)
{
	return !strcmp(name, LAYOUT_TASKS) ||
	       (str_starts(name, LAYOUT_TASKS_PREFIX "-") && str_ends(name, ".log"));
}

bool reader_is_streamed(const char *name)
{
	return reader_is_tasks(name) || !strcmp(name, LAYOUT_PROC_TASKS) ||
	       !strcmp(name, LAYOUT_PROCESSES) || !strcmp(name, LAYOUT_RESULTS);
}

static int add_name(struct reader_name **list, size_t *n, const char *entry,
		    bool (*is_wanted)(const char *name))
{
	struct reader_name f = { .packed = str_ends(entry, LAYOUT_ZSTD_SUFFIX) }, *added;

	if (strlen(entry) >= sizeof f.name)
		return 0;
	strcpy(f.name, entry);
	f.plain = !f.packed;
	if (f.packed)
		f.name[strlen(f.name) - strlen(LAYOUT_ZSTD_SUFFIX)] = '\0';
	if (!is_wanted(f.name))
		return 0;
	added = array_add(list, n, sizeof *added);
	if (!added)
		return -ENOMEM;
	*added = f;
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct reader_name *)a)->name, ((const struct reader_name *)b)->name);
}

/* A packed and a plain one are one entry. */
static size_t merge(struct reader_name *list, size_t n)
{
	size_t left = 0;

	for (size_t i = 0; i < n; i++) {
		if (left && !strcmp(list[left - 1].name, list[i].name)) {
			list[left - 1].packed |= list[i].packed;
			list[left - 1].plain |= list[i].plain;
		} else {
			list[left++] = list[i];
		}
	}
	return left;
}

int reader_list(int dir_fd, bool (*is_wanted)(const char *name), struct reader_name **list, size_t *n)
{
	DIR *dir = file_open_dir_at(dir_fd, ".");
	struct dirent *entry;
	int r = 0;

	*list = NULL;
	*n = 0;
	if (!dir)
		return -errno;
	while (!r && (errno = 0, entry = readdir(dir)))
		r = add_name(list, n, entry->d_name, is_wanted);
	if (!r)
		r = -errno;
	closedir(dir);
	if (*n)
		qsort(*list, *n, sizeof **list, by_name);
	*n = merge(*list, *n);
	return r;
}

/* The recording keeps the memory of build, with its texts. */
static int parse_build(struct reader *r, const char *name, struct buf *text)
{
	struct buf b = *text;

	buf_init(text);
	if (arena_keep(r->rec->arena, b.data))
		return -ENOMEM;
	return reader_build(r, name, b.data, b.len);
}

static int parse_feed(struct reader *r, const char *name, struct feed *f)
{
	int error;

	if (feed_at_end(f) && !f->error)
		return reader_warn(r, "%s: empty", name);
	error = reader_is_tasks(name) ? reader_tasks(r, name, f) :
		!strcmp(name, LAYOUT_PROCESSES) ? reader_processes(r, name, f) :
		!strcmp(name, LAYOUT_RESULTS) ? reader_results(r, name, f) :
		reader_usage(r, name, f);
	if (!error && f->error)
		error = reader_unreadable(r, f->error, "%s", name);
	return error;
}

/* Commands of tasks are read later, so the unpacked text is kept. */
static int parse_tasks(struct reader *r, const char *name, struct buf *text, int fd)
{
	struct texts *t = r->rec->texts;
	struct buf b = *text;
	struct feed f;

	buf_init(text);
	if (texts_add(t, name, b.data, b.len, fd))
		return -ENOMEM;
	feed_init(&f, b.data, b.len, fd, texts_lend_window(t));
	return parse_feed(r, name, &f);
}

static int parse_stream(struct reader *r, const char *name, struct buf *text, int fd)
{
	struct feed f;
	int error;

	feed_init(&f, text->data, text->len, fd, texts_lend_window(r->rec->texts));
	error = parse_feed(r, name, &f);
	file_close(fd);
	return error;
}

int reader_file(struct reader *r, const char *name, struct buf *text, int fd)
{
	char series[256];
	struct buf b;

	if (reader_is_tasks(name))
		return parse_tasks(r, name, text, fd);
	if (reader_is_streamed(name))
		return parse_stream(r, name, text, fd);
	if (!text->len)
		return reader_warn(r, "%s: empty", name);
	if (!strcmp(name, LAYOUT_BUILD))
		return parse_build(r, name, text);
	if (!strcmp(name, LAYOUT_LOST))
		return reader_lost(r, name, text->data, text->len);
	buf_init_fixed(&b, series, sizeof series);
	buf_add(&b, name, strlen(name) - strlen(".log"));
	return buf_error(&b) ? buf_error(&b) :
		reader_series(r, name, series, text->data, text->len);
}
