/* SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "base/file.h"
#include "base/trust.h"
#include "base/utf8.h"
#include "inspect/archive_files.h"
#include "inspect/archive_format.h"
#include "inspect/archive_merge.h"
#include "inspect/archive_meta.h"
#include "inspect/symbols_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define NAMES_TRIED 999
#define NAME_PART_MAX 64

struct log {
	int fd;			/* -1: not made yet */
	off_t good;		/* its size with the last whole write */
	size_t n_blocks;
};

struct inspect_archive {
	const struct inspection *x;
	int dir_fd, progress_fd;
	struct log meta, process, log[ARCHIVE_LOGS];
	size_t n;		/* snapshots */
	int64_t last_us;
	struct snapshot before;	/* what each log had in its last block */
	struct archive_written written;
	enum heap_mode heap;	/* as written */
	uint64_t heap_period;
	int error;		/* sticky */
	struct buf b;
	bool named;		/* after the process */
	char path[PATH_MAX];
};

/* Names */

/* A part of the name: no slash, nothing that a terminal obeys, not long. */
static void add_part(struct buf *b, const char *text)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t end = b->len + NAME_PART_MAX, len = strlen(text);

	while (len) {
		uint32_t code;
		size_t n = utf8_decode(p, len, &code);

		if (b->len + n > end)
			break;
		if (utf8_is_unsafe(code) || code == '/')
			buf_addc(b, '_');
		else
			buf_add(b, p, n);
		p += n;
		len -= n;
	}
}

static void add_name(struct buf *b, const struct inspection *x)
{
	time_t s = (time_t)(x->start_us / 1000000);
	struct tm tm;

	if (gmtime_r(&s, &tm))
		buf_addf(b, "%04d-%02d-%02d %02d-%02d-%02d", tm.tm_year + 1900, tm.tm_mon + 1,
			 tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
	buf_adds(b, " - ");
	add_part(b, x->host);
	buf_adds(b, " - ");
	add_part(b, x->program);
	buf_addf(b, " %d", (int)x->pid);
}

static int make_or_move(const char *path, const char *from)
{
	if (from)
		return renameat2(AT_FDCWD, from, AT_FDCWD, path, RENAME_NOREPLACE) ? -errno : 0;
	return mkdir(path, 0700) ? -errno : 0;
}

/* BASE/NAME is made, or the archive of the path `from` gets this name. */
static int make_named(char path[PATH_MAX], const struct inspection *x, const char *base,
		      const char *from)
{
	struct buf name = BUF_INIT;
	int r = -EEXIST;

	add_name(&name, x);
	for (unsigned i = 1; r == -EEXIST && i <= NAMES_TRIED; i++) {
		char more[16] = "";

		if (i > 1)
			snprintf(more, sizeof more, " %u", i);
		r = buf_error(&name);
		if (!r && snprintf(path, PATH_MAX, "%s/%s%s", strcmp(base, "/") ? base : "",
				   name.data, more) >= PATH_MAX)
			r = -ENAMETOOLONG;
		if (!r)
			r = make_or_move(path, from);
	}
	buf_release(&name);
	return r;
}

static int make_path(struct inspect_archive *a, const char *path, struct error *err)
{
	strcpy(a->path, path);
	return mkdir(path, 0700) ? error_sys(err, -errno, path, "cannot make the archive") : 0;
}

static int make_dir(struct inspect_archive *a, const char *base, const char *path,
		    enum store_access access, struct error *err)
{
	char where[PATH_MAX], parent[PATH_MAX], *slash;
	int r = file_absolute(where, path ? path : base);

	if (r)
		return error_sys(err, r, path ? path : base, "cannot make the archive");
	r = trust_path(where, err);
	if (r)
		return r;
	strcpy(parent, where);
	slash = path ? strrchr(parent, '/') : NULL;
	if (slash)
		*slash = '\0';
	r = store_make_base(parent, access, err);
	if (r || path)
		return r ? r : make_path(a, where, err);
	a->named = true;
	r = make_named(a->path, a->x, where, NULL);
	return r ? error_sys(err, r, a->path, "cannot make the archive") : 0;
}

/* The directory was made for the user alone: its mode is set before there is a file. */
static int open_dir(struct inspect_archive *a, enum store_access access, struct error *err)
{
	a->dir_fd = open(a->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (a->dir_fd < 0)
		return error_sys(err, -errno, a->path, NULL);
	fchmod(a->dir_fd, store_dir_mode(access));
	return 0;
}

/* Writing */

static int make_log(struct inspect_archive *a, struct log *log, const char *name,
		    const char *header)
{
	struct buf b = BUF_INIT;
	int r;

	log->fd = file_open_at(a->dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_APPEND);
	if (log->fd < 0)
		return log->fd;
	buf_adds(&b, header);
	buf_addc(&b, '\n');
	r = buf_error(&b) ? buf_error(&b) : file_write(log->fd, b.data, b.len);
	if (!r)
		log->good = (off_t)b.len;
	buf_release(&b);
	return r;
}

static int fail(struct inspect_archive *a, int r)
{
	if (!a->error)
		a->error = r;
	return r;
}

/* One write of a->b. If only a part fits, that is removed. */
static int write_log(struct inspect_archive *a, struct log *log)
{
	int r = buf_error(&a->b);

	if (!r)
		r = file_write(log->fd, a->b.data, a->b.len);
	if (!r)
		log->good += (off_t)a->b.len;
	else if (ftruncate(log->fd, log->good)) {
		/* what remains is a torn end, which readers leave out */
	}
	return r ? fail(a, r) : 0;
}

static void add_heap(struct inspect_archive *a)
{
	static const char *const words[] = {
		[HEAP_OFF] = "", [HEAP_SAMPLED] = "sampled", [HEAP_EXACT] = "exact",
	};

	archive_meta_add(&a->b, "heap", words[a->x->heap]);
	archive_meta_add_number(&a->b, "heap_period", a->x->heap_period);
	a->heap = a->x->heap;
	a->heap_period = a->x->heap_period;
}

static const char *text_or_empty(const char *text)
{
	return text ? text : "";
}

static void add_program(struct inspect_archive *a)
{
	archive_meta_add(&a->b, "program", text_or_empty(a->x->program));
	archive_meta_add_command(&a->b, "command", text_or_empty(a->x->command));
}

static int write_meta(struct inspect_archive *a)
{
	const struct inspection *x = a->x;
	struct buf *b = &a->b;
	int r = make_log(a, &a->meta, ARCHIVE_META, ARCHIVE_META_HEADER);

	if (r)
		return r;
	buf_clear(b);
	archive_meta_add(b, "host", text_or_empty(x->host));
	archive_meta_add(b, "machine", text_or_empty(x->machine));
	archive_meta_add_number(b, "pid", (uint64_t)x->pid);
	archive_meta_add_number(b, "start_ticks", x->start_ticks);
	archive_meta_add_ancestors(b, x->pid, x->start_ticks);
	add_program(a);
	archive_meta_add(b, "task", text_or_empty(x->task));
	archive_meta_add(b, "why", text_or_empty(x->why));
	archive_meta_add_number(b, "start_us", (uint64_t)x->start_us);
	archive_meta_add_number(b, "start_ns", (uint64_t)x->start_ns);
	buf_adds(b, "start: ");
	clock_add_iso(b, x->start_us * 1000);
	buf_adds(b, "\ninspector: ");
	archive_meta_add_writer(b);
	buf_addc(b, '\n');
	add_heap(a);
	return write_log(a, &a->meta);
}

static int begin_archive(struct inspect_archive *a, const char *base, const char *path,
			 enum store_access access, struct error *err)
{
	int r = make_dir(a, base, path, access, err);

	if (r)
		return r;
	r = open_dir(a, access, err);
	if (!r) {
		r = write_meta(a);
		if (!r)
			r = make_log(a, &a->log[ARCHIVE_MAPS], archive_logs[ARCHIVE_MAPS].name,
				     archive_logs[ARCHIVE_MAPS].header);
		if (!r)
			r = make_log(a, &a->process, ARCHIVE_PROCESS_LOG, ARCHIVE_PROCESS_HEADER);
		if (!r) {
			a->progress_fd = inspect_progress_begin(a->dir_fd);
			r = a->progress_fd < 0 ? a->progress_fd : 0;
		}
		if (r)
			error_sys(err, r, a->path, "cannot write the archive");
	}
	if (r && a->dir_fd >= 0) {
		unlinkat(a->dir_fd, ARCHIVE_META, 0);
		unlinkat(a->dir_fd, archive_logs[ARCHIVE_MAPS].name, 0);
		unlinkat(a->dir_fd, ARCHIVE_PROCESS_LOG, 0);
		unlinkat(a->dir_fd, INSPECT_PROGRESS_LOG, 0);
	}
	if (r)
		rmdir(a->path);
	return r;
}

static void release_archive(struct inspect_archive *a)
{
	struct log *logs[] = { &a->meta, &a->process, &a->log[0], &a->log[1], &a->log[2] };

	for (size_t i = 0; i < sizeof logs / sizeof *logs; i++)
		file_close(logs[i]->fd);
	file_close(a->dir_fd);
	file_close(a->progress_fd);
	snapshot_release(&a->before);
	buf_release(&a->b);
	free(a);
}

int inspect_archive_create(struct inspect_archive **out, const char *base, const char *path,
			   const struct inspection *x, enum store_access access,
			   struct error *err)
{
	struct inspect_archive *a = calloc(1, sizeof *a);
	int r;

	*out = NULL;
	if (!a)
		return error_sys(err, -ENOMEM, path ? path : base, NULL);
	a->x = x;
	a->dir_fd = a->progress_fd = a->meta.fd = a->process.fd = -1;
	for (size_t i = 0; i < ARCHIVE_LOGS; i++)
		a->log[i].fd = -1;
	r = begin_archive(a, base, path, access, err);
	if (r)
		release_archive(a);
	else
		*out = a;
	return r;
}

const char *inspect_archive_path(const struct inspect_archive *a)
{
	return a->path;
}

/* Perhaps with a number behind it. */
static bool has_name(const struct inspect_archive *a)
{
	struct buf name = BUF_INIT;
	bool has;

	add_name(&name, a->x);
	has = !strncmp(strrchr(a->path, '/') + 1, buf_str(&name), name.len);
	buf_release(&name);
	return has;
}

/* Where the directory cannot be renamed, it keeps its name. */
int inspect_archive_set_program(struct inspect_archive *a)
{
	char path[PATH_MAX], base[PATH_MAX];

	if (a->error)
		return a->error;
	buf_clear(&a->b);
	add_program(a);
	if (write_log(a, &a->meta) || !a->named)
		return a->error;
	if (has_name(a))
		return 0;
	snprintf(base, sizeof base, "%.*s", (int)(strrchr(a->path, '/') - a->path), a->path);
	if (!make_named(path, a->x, *base ? base : "/", a->path))
		strcpy(a->path, path);
	return 0;
}

/* Snapshots */

static int keep_block(struct inspect_archive *a, enum archive_log log, const struct snapshot *s)
{
	struct snapshot *old = &a->before;
	int r;

	if (log == ARCHIVE_MAPS)
		return archive_merge_copy(&old->mapping, &old->n, s->mapping, s->n,
					  sizeof *s->mapping);
	if (log == ARCHIVE_PAGES)
		return archive_merge_copy(&old->resident, &old->n_resident, s->resident,
					  s->n_resident, sizeof *s->resident);
	r = archive_merge_copy(&old->site, &old->n_sites, s->site, s->n_sites, sizeof *s->site);
	return r ? r : archive_merge_copy(&old->range, &old->n_ranges, s->range, s->n_ranges,
					  sizeof *s->range);
}

static int add_block(struct inspect_archive *a, enum archive_log which, const struct snapshot *s)
{
	struct log *log = &a->log[which];
	const struct snapshot *before = log->n_blocks % ARCHIVE_ALL_EVERY ? &a->before : NULL;
	int r = 0;

	if (log->fd < 0)
		r = make_log(a, log, archive_logs[which].name, archive_logs[which].header);
	if (r)
		return fail(a, r);
	buf_clear(&a->b);
	if (which == ARCHIVE_MAPS)
		archive_encode_maps(&a->b, a->n, a->x, before, s);
	else if (which == ARCHIVE_HEAP)
		archive_encode_heap(&a->b, a->n, a->x, &a->written, before, s);
	else
		archive_encode_pages(&a->b, a->n, before, s);
	r = write_log(a, log);
	if (r)
		return r;
	log->n_blocks++;
	if (which == ARCHIVE_HEAP)
		a->written = (struct archive_written){
			a->x->n_modules, a->x->n_frames, a->x->n_stacks,
		};
	r = keep_block(a, which, s);
	return r ? fail(a, r) : 0;
}

/* What a reader would take for damage. */
static bool is_valid(const struct inspect_archive *a, const struct snapshot *s)
{
	return archive_valid_block(ARCHIVE_MAPS, a->x, s) &&
	       archive_valid_stacks(a->x, &a->written) &&
	       (!s->has_heap || archive_valid_block(ARCHIVE_HEAP, a->x, s)) &&
	       (!s->has_pages || archive_valid_block(ARCHIVE_PAGES, a->x, s));
}

static int update_meta(struct inspect_archive *a)
{
	if (a->heap == a->x->heap && a->heap_period == a->x->heap_period)
		return 0;
	buf_clear(&a->b);
	add_heap(a);
	return write_log(a, &a->meta);
}

int inspect_archive_add_snapshot(struct inspect_archive *a, const struct snapshot *s)
{
	struct snapshot now = *s;
	int r = a->error;

	if (now.time_us < a->last_us)
		now.time_us = a->last_us;
	if (!r && !is_valid(a, &now))
		return -EINVAL;
	if (!r)
		r = update_meta(a);
	if (!r && s->has_heap)
		r = add_block(a, ARCHIVE_HEAP, &now);
	if (!r && s->has_pages)
		r = add_block(a, ARCHIVE_PAGES, &now);
	if (!r)
		r = add_block(a, ARCHIVE_MAPS, &now);
	if (r)
		return r;
	a->last_us = now.time_us;
	a->n++;
	return 0;
}

int inspect_archive_add_values(struct inspect_archive *a, int64_t time_us,
			       const struct process_values *v)
{
	if (a->error || !archive_valid_values(v) || time_us < 0 || time_us > ARCHIVE_TIME_MAX)
		return a->error ? a->error : -EINVAL;
	buf_clear(&a->b);
	buf_addi(&a->b, time_us);
	buf_addc(&a->b, ' ');
	archive_encode_values(&a->b, v);
	buf_addc(&a->b, '\n');
	return write_log(a, &a->process);
}

int inspect_archive_add_progress(struct inspect_archive *a, unsigned percent, const char *message)
{
	int r = inspect_progress_add(a->progress_fd, percent, message);

	return r ? fail(a, r) : 0;
}

int inspect_archive_end(struct inspect_archive *a, const char *why, struct error *err)
{
	int64_t end_us;
	int r;

	if (!a)
		return 0;
	r = a->error;
	end_us = (clock_mono_ns() - a->x->start_ns) / 1000;
	buf_clear(&a->b);
	archive_meta_add_number(&a->b, "snapshots", a->n);
	archive_meta_add_number(&a->b, "end_us", end_us > 0 ? (uint64_t)end_us : 0);
	if (r)
		archive_meta_add(&a->b, "error", strerror(-r));
	if (a->x->uncounted && *a->x->uncounted) {
		archive_meta_add(&a->b, "heap", "");
		archive_meta_add(&a->b, "uncounted", a->x->uncounted);
	}
	archive_meta_add(&a->b, "end", why);
	write_log(a, &a->meta);
	r = a->error;
	if (r)
		error_set(err, r, a->path, 0, 0, "the archive is incomplete after %zu snapshot%s: %s",
			  a->n, a->n == 1 ? "" : "s", strerror(-r));
	release_archive(a);
	return r;
}

#define SYMBOLS_NEW SYMBOLS_LOG ".new"

/* It appears whole, with the mode of the other files. */
static int replace_symbols(int dir_fd, const struct buf *text)
{
	int fd, r;

	unlinkat(dir_fd, SYMBOLS_NEW, 0);
	fd = file_open_at(dir_fd, SYMBOLS_NEW, O_WRONLY | O_CREAT | O_EXCL);
	if (fd < 0)
		return fd;
	r = file_write_and_close(fd, text->data, text->len);
	if (!r && renameat(dir_fd, SYMBOLS_NEW, dir_fd, SYMBOLS_LOG))
		r = -errno;
	if (r)
		unlinkat(dir_fd, SYMBOLS_NEW, 0);
	return r;
}

int inspect_archive_set_symbols(const char *path, const struct inspection *x, struct error *err)
{
	int dir_fd = -1, r = trust_path(path, err);
	struct buf text = BUF_INIT;

	if (r)
		return r;
	symbols_log_write(&text, x);
	r = buf_error(&text);
	if (!r && (dir_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
		r = -errno;
	if (!r)
		r = replace_symbols(dir_fd, &text);
	file_close(dir_fd);
	buf_release(&text);
	return r ? error_sys(err, r, path, "cannot write " SYMBOLS_LOG) : 0;
}
