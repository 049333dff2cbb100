/* SPDX-License-Identifier: MIT */
#include "recording/recording.h"

#include "base/array.h"
#include "base/field.h"
#include "base/file.h"
#include "base/minmax.h"
#include "base/readfile.h"
#include "base/str.h"
#include "base/texts.h"
#include "recording/event.h"
#include "recording/layout.h"
#include "recording/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_CHUNK ((size_t)1 << 20)
#define FIRST_RESERVE_MAX ((size_t)256 << 20)

/* Files */

/* Append one chunk to out. A chunk without a newline, in a line that began before the last chunk,
 * replaces that chunk: the line is too long anyway. */
static ssize_t read_chunk(struct buf *out, int fd, unsigned *without_newline)
{
	ssize_t n;
	size_t got;

	if (buf_reserve(out, READ_CHUNK))
		return -ENOMEM;
	n = readfile_some(fd, out->data + out->len, READ_CHUNK);
	if (n < 0)
		return n;
	got = (size_t)n;
	if (memchr(out->data + out->len, '\n', got))
		*without_newline = 0;
	else if (++*without_newline > 2)
		memmove(out->data + out->len - READ_CHUNK, out->data + out->len, got);
	buf_cut(out, out->len + (*without_newline > 2 ? got - READ_CHUNK : got));
	return n;
}

/* A regular file: its descriptor, or -ENOENT and the like. */
static int open_log(int dir_fd, const char *name, size_t *size)
{
	int fd = readfile_open(dir_fd, name);
	struct stat st;

	if (fd < 0)
		return fd;
	*size = !fstat(fd, &st) && st.st_size > 0 ? (size_t)st.st_size : 0;
	return fd;
}

/* Add the file to out. -ENOENT and the like when it cannot be read. */
static int read_file(struct buf *out, int dir_fd, const char *name)
{
	unsigned without_newline = 0;
	size_t size;
	int fd = open_log(dir_fd, name, &size);
	ssize_t n = 0;

	if (fd < 0)
		return fd;
	if (size)
		n = buf_reserve(out, size < FIRST_RESERVE_MAX ? size + READ_CHUNK :
				FIRST_RESERVE_MAX);
	if (!n) {
		do {
			n = read_chunk(out, fd, &without_newline);
		} while (n == (ssize_t)READ_CHUNK);
	}
	close(fd);
	return n < 0 ? (int)n : 0;
}

struct source {
	struct reader r;
	int dir_fd;
	struct recording_formats formats;
	bool build_only, sums_only, waits, tasks_only, proof;
	int (*add_lines)(struct buf *lines, const struct recording *rec);
	size_t n_files;
	struct reader_name *file;
};

static int unpack(struct source *s, struct buf *out, const struct reader_name *f)
{
	struct error err = { 0 };
	struct buf packed = BUF_INIT;
	char name[sizeof f->name + 8];
	int r;

	snprintf(name, sizeof name, "%s" LAYOUT_ZSTD_SUFFIX, f->name);
	if (!s->formats.codec)
		return reader_warn(&s->r, "%s: compressed, left out", name);
	r = read_file(&packed, s->dir_fd, name);
	if (r && r != -ENOMEM)
		r = reader_unreadable(&s->r, r, "%s", name);
	else if (!r)
		r = s->formats.codec->unpack(out, packed.data, packed.len, &err);
	buf_release(&packed);
	if (r && !err.message[0])
		return r;
	if (r == -ENOMEM)
		return r;
	if (r && reader_warn(&s->r, "%s: %s", name, err.message))
		return -ENOMEM;
	if (out->len && out->data[out->len - 1] != '\n')
		buf_addc(out, '\n');
	return buf_error(out);
}

/* Read the whole file, or its packed part and *fd for the rest. */
static int load(struct source *s, struct buf *out, int *fd, const struct reader_name *f)
{
	size_t unused;
	int r = 0;

	*fd = -1;
	if (f->packed)
		r = unpack(s, out, f);
	if (!r && f->plain) {
		if (reader_is_streamed(f->name))
			r = *fd = open_log(s->dir_fd, f->name, &unused);
		else
			r = read_file(out, s->dir_fd, f->name);
		if (r < 0 && r != -ENOMEM)
			r = reader_unreadable(&s->r, r, "%s", f->name);
	}
	return r < 0 ? r : buf_reserve(out, 1);
}

static bool is_ours(const char *name)
{
	return !strcmp(name, LAYOUT_BUILD) || !strcmp(name, LAYOUT_LOST) ||
	       !strcmp(name, LAYOUT_PROCESSES) || !strcmp(name, LAYOUT_RESULTS) || reader_is_tasks(name) ||
	       (str_starts(name, "proc_") && str_ends(name, ".log"));
}

static bool is_of_build(const char *name)
{
	return !strcmp(name, LAYOUT_BUILD) || !strcmp(name, LAYOUT_LOST);
}

static bool is_of_tasks(const char *name)
{
	return !strcmp(name, LAYOUT_BUILD) || reader_is_tasks(name);
}

static int list_files(struct source *s)
{
	int r = reader_list(s->dir_fd, s->build_only ? is_of_build : s->tasks_only ? is_of_tasks : is_ours,
			    &s->file, &s->n_files);

	return r && r != -ENOMEM ? reader_unreadable(&s->r, r, ".") : r;
}

static int read_one(struct source *s, const struct reader_name *f)
{
	size_t n_before = s->r.rec->n_warnings;
	struct buf text = BUF_INIT;
	int fd;
	int r = load(s, &text, &fd, f);

	if (!r && (text.len || fd >= 0 || s->r.rec->n_warnings == n_before))
		r = reader_file(&s->r, f->name, &text, fd);
	else
		file_close(fd);
	buf_release(&text);
	return r;
}

/* Data about the tasks from other files. */
static int read_added(struct source *s)
{
	struct buf lines = BUF_INIT;
	int r = s->add_lines ? s->add_lines(&lines, s->r.rec) : 0;

	if (!r && lines.len)
		r = reader_more_tasks(&s->r, (struct slice){ lines.data, lines.len });
	buf_release(&lines);
	return r;
}

static int nothing_understood(struct source *s)
{
	const struct recording *rec = s->r.rec;

	if (!rec->n_warnings)
		return error_set(s->r.err, -EINVAL, rec->path, 0, 0, "not a recording");
	return error_set(s->r.err, -EINVAL, rec->path, 0, 0, "not a recording: %s",
			 rec->warning[0].text);
}

/* These files refer to "build" and "tasks...". */
static bool is_read_later(const char *name)
{
	return str_starts(name, "proc_") || !strcmp(name, LAYOUT_RESULTS);
}

static int read_all(struct source *s)
{
	int r = list_files(s);

	if (r)
		return error_sys(s->r.err, r, s->r.rec->path, NULL);
	for (size_t i = 0; !r && i < s->n_files; i++)
		r = is_read_later(s->file[i].name) ? 0 : read_one(s, &s->file[i]);
	if (!r)
		r = read_added(s);
	if (!r)
		r = reader_finish_tasks(&s->r);
	if (!r && !s->build_only)
		r = reader_count_missing(&s->r);
	for (size_t i = 0; !r && i < s->n_files; i++)
		r = is_read_later(s->file[i].name) ? read_one(s, &s->file[i]) : 0;
	if (!r)
		r = reader_finish_usage(&s->r);
	if (!r)
		r = reader_link(&s->r);
	if (!r)
		r = reader_finish_processes(&s->r);
	if (!r && !s->build_only)
		r = reader_prove(&s->r);
	if (!r)
		r = reader_leave_out_suspended(&s->r);
	if (r == -ENOMEM)
		return error_sys(s->r.err, r, s->r.rec->path, NULL);
	if (!r && !s->r.n_understood)
		return nothing_understood(s);
	return r;
}

/* Recognising */

static bool first_line_is(int dir_fd, const char *name, const char *start)
{
	char text[64];

	readfile_start(dir_fd, name, text, sizeof text);
	return str_starts(text, start);
}

static bool ours_is_here(int dir_fd)
{
	return first_line_is(dir_fd, LAYOUT_BUILD, "buildbeat build ") ||
	       first_line_is(dir_fd, LAYOUT_TASKS, "buildbeat tasks ");
}

static bool is_foreign(int dir_fd, const struct recording_foreign *foreign)
{
	return foreign && !ours_is_here(dir_fd) && foreign->is_here(dir_fd);
}

static int read_dir(struct source *s, const char *path)
{
	const struct recording_foreign *foreign = s->formats.foreign;
	int r;

	s->r.rec->path = strdup(path);
	s->r.rec->arena = arena_new();
	if (!s->r.rec->path || !s->r.rec->arena)
		return error_sys(s->r.err, -ENOMEM, path, NULL);
	s->dir_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->dir_fd < 0)
		return error_sys(s->r.err, -errno, path, NULL);
	if (is_foreign(s->dir_fd, foreign)) {
		r = foreign->read(&s->r, s->dir_fd, s->build_only);
		close(s->dir_fd);
		return r == -ENOMEM ? error_sys(s->r.err, r, path, NULL) : r;
	}
	s->r.rec->texts = texts_new(s->dir_fd);
	if (!s->r.rec->texts)
		return error_sys(s->r.err, -ENOMEM, path, NULL);
	return read_all(s);
}

static int read_source(struct source *s, struct recording *rec, const char *path,
		       struct error *err)
{
	int r;

	reader_init(&s->r, rec, err);
	s->r.sums_only = s->sums_only;
	s->r.waits = s->waits;
	s->r.tasks_only = s->tasks_only;
	s->r.proof = s->proof;
	s->r.follow.no_kinds = s->tasks_only;
	s->r.follow.no_values = s->tasks_only && !s->proof;
	s->r.foreign = s->formats.foreign;
	r = read_dir(s, path);
	reader_release(&s->r);
	free(s->file);
	return r;
}

static struct recording_formats formats_or_none(const struct recording_formats *formats)
{
	return formats ? *formats : (struct recording_formats){ 0 };
}

int recording_read(struct recording *rec, const char *path,
		   const struct recording_formats *formats, struct error *err)
{
	struct source s = { .formats = formats_or_none(formats) };

	return read_source(&s, rec, path, err);
}

int recording_read_sums(struct recording *rec, const char *path,
			const struct recording_formats *formats, struct error *err)
{
	struct source s = { .formats = formats_or_none(formats), .sums_only = true };

	return read_source(&s, rec, path, err);
}

int recording_read_as(struct recording *rec, const char *path,
		      const struct recording_options *options, struct error *err)
{
	struct source s = { .formats = formats_or_none(options->formats),
		.sums_only = options->sums_only || options->waits || options->tasks_only || options->proof,
		.waits = options->waits,
		.tasks_only = options->tasks_only || options->proof,
		.proof = options->proof,
		.add_lines = options->add_lines };

	return read_source(&s, rec, path, err);
}

int recording_read_build(struct recording *rec, const char *path,
			 const struct recording_formats *formats, struct error *err)
{
	struct source s = { .formats = formats_or_none(formats), .build_only = true };

	return read_source(&s, rec, path, err);
}

void recording_release(struct recording *rec)
{
	for (size_t i = 0; i < rec->n_series; i++) {
		free_all(rec->series[i].column, rec->series[i].time_ms, rec->series[i].level,
			 rec->series[i].gap);
	}
	free_all(rec->series, rec->build, rec->instance, rec->task, rec->after, rec->out, rec->file,
		 rec->span, rec->task_span, rec->pool, rec->group, rec->in, rec->program, rec->note,
		 rec->usage, rec->memory, rec->warning, rec->path);
	buf_release(&rec->original);
	texts_free(rec->texts);
	arena_free(rec->arena);
	*rec = (struct recording)RECORDING_INIT;
}

/* Values of a recording */

const char *recording_build(const struct recording *rec, const char *key)
{
	for (size_t i = 0; i < rec->n_build; i++) {
		if (!strcmp(rec->build[i].key, key))
			return rec->build[i].value;
	}
	return NULL;
}

const char *recording_tool(const struct recording *rec, const char **version)
{
	const char *tool = recording_build(rec, "tool");

	*version = recording_build(rec, "version");
	for (size_t i = 0; !tool && i < rec->n_instances; i++) {
		const struct instance *in = &rec->instance[i];

		if (!in->tool || !*in->tool || in->only_spans)
			continue;
		tool = in->tool;
		*version = in->version && *in->version ? in->version : NULL;
	}
	return tool;
}

int64_t recording_build_number(const struct recording *rec, const char *key)
{
	const char *value = recording_build(rec, key);
	int64_t n;

	return value && cursor_slice_i64(slice_of(value), &n) ? n : -1;
}

const struct series *recording_series(const struct recording *rec, const char *name)
{
	for (size_t i = 0; i < rec->n_series; i++) {
		if (!strcmp(rec->series[i].name, name))
			return &rec->series[i];
	}
	return NULL;
}

int recording_series_column(const struct series *s, const char *name)
{
	for (size_t i = 0; i < s->n_columns; i++) {
		if (!strcmp(s->column[i].name, name))
			return (int)i;
	}
	return -1;
}

int64_t recording_unseen_end_us(const struct recording *rec, const struct task *t)
{
	int64_t end_us = t->end_us;

	if (end_us < 0)
		end_us = rec->instance[t->instance].close_us;
	if (end_us < 0)
		end_us = rec->last_us;
	return MAX(t->start_us, end_us);
}

/* Commands are read from their files when they are asked for. */

#define FIELDS_BEFORE 5		/* pid, slot, kind, name, key */

/* The field of the start line of the task; the file may have changed since it was read. */
static bool find_command(const struct task *t, struct slice line, struct slice *command)
{
	struct event e;

	if (event_parse(line, &e) != EVENT_PARSED || e.kind != EVENT_START || e.seq != t->seq)
		return false;
	for (int i = 0; i < FIELDS_BEFORE; i++)
		event_field(&e);
	*command = event_field(&e);
	return true;
}

const char *recording_command(const struct recording *rec, const struct task *t)
{
	struct slice line, command;
	struct buf *b;

	if (t->command & TEXT_BARE)
		return texts_bare(rec->texts, t->command);
	if (!t->command || !texts_line(rec->texts, t->command, &line) ||
	    !find_command(t, line, &command))
		return "";
	b = &rec->texts->decoded;
	buf_clear(b);
	buf_add(b, command.p, command.len);
	if (buf_error(b))
		rec->texts->error = buf_error(b);
	if (buf_error(b) || !b->len)
		return "";
	buf_cut(b, field_decode(b->data, b->len, NULL));
	return b->data;
}

int recording_command_error(const struct recording *rec)
{
	return rec->texts ? rec->texts->error : 0;
}

bool recording_is_here(const char *path, const struct recording_formats *formats)
{
	int dir_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool here;

	if (dir_fd < 0)
		return false;
	here = ours_is_here(dir_fd) || is_foreign(dir_fd, formats_or_none(formats).foreign);
	close(dir_fd);
	return here;
}

int recording_whole(const struct recording *rec, struct error *err)
{
	struct buf what = BUF_INIT;
	int r = 0;

	if (rec->lost.reason) {
		lost_add_text(&what, &rec->lost);
		r = error_set(err, -EINVAL, rec->path, 0, 0, "the recording is incomplete and "
			      "cannot be compared or exported: %s; record the build again", buf_str(&what));
	}
	buf_release(&what);
	return r;
}
