/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/file.h"
#include "base/readfile.h"
#include "base/search.h"
#include "inspect/archive_files.h"
#include "inspect/archive_format.h"
#include "inspect/archive_merge.h"
#include "inspect/archive_meta.h"
#include "inspect/symbols_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SYMBOLS_MAX (1u << 30)

/* Where a block is in its file. */
struct place {
	size_t number;		/* of the snapshot */
	off_t offset;
	bool all;
};

struct log {
	int fd;			/* -1: there is no file */
	size_t n;
	struct place *place;
	size_t next;		/* block that follows the one in `now`; 0: `now` is unknown */
};

struct inspect_reader {
	struct inspection x;
	struct archive_meta meta;
	struct log log[ARCHIVE_LOGS];
	struct snapshot now;	/* decoded from each log up to its `next` */
	size_t n_looks;
	struct inspect_look *look;
	char *memory;		/* of the feed */
	bool runs;		/* its inspector */
	char path[PATH_MAX];
	char warning[PATH_MAX + 256];
};

static void warn(struct inspect_reader *r, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void warn(struct inspect_reader *r, const char *format, ...)
{
	va_list ap;

	if (r->warning[0])
		return;
	va_start(ap, format);
	vsnprintf(r->warning, sizeof r->warning, format, ap);
	va_end(ap);
}

/* The blocks of the logs */

static int check_header(struct feed *f, const char *header)
{
	struct slice line;
	enum feed_line got = feed_line(f, &line);

	if (got == FEED_END || got == FEED_TORN)
		return f->error ? f->error : -ENODATA;
	return got == FEED_WHOLE && slice_is(line, header) ? 0 : -EINVAL;
}

/* Snapshots are numbered without gaps; the other logs may have blocks of a few of them. */
static bool fits(const struct log *log, enum archive_log which, const struct place *p,
		 const struct snapshot *s, int64_t last_us)
{
	if (!log->n ? !p->all : p->number <= log->place[log->n - 1].number)
		return false;
	return which != ARCHIVE_MAPS || (p->number == log->n && s->time_us >= last_us);
}

static int add_place(struct log *log, const struct place *p)
{
	struct place *added = array_add(&log->place, &log->n, sizeof *added);

	if (!added)
		return -ENOMEM;
	*added = *p;
	return 0;
}

/* Read all blocks once: where they are, and the modules, frames and stacks. */
static int scan(struct inspect_reader *r, enum archive_log which)
{
	const struct archive_log_info *info = &archive_logs[which];
	struct log *log = &r->log[which];
	struct feed f;
	struct archive_decoder d = { .feed = &f, .x = &r->x };
	struct snapshot s = { 0 };
	int64_t last_us = 0;
	int error;

	feed_init(&f, NULL, 0, log->fd, r->memory);
	error = check_header(&f, info->header);
	while (!error) {
		struct place p = { .offset = (off_t)f.offset };

		error = archive_decode(&d, which, &s);
		p.number = d.number;
		p.all = d.all;
		if (error != 1)
			break;
		error = fits(log, which, &p, &s, last_us) ? add_place(log, &p) : -EINVAL;
		last_us = s.time_us;
	}
	snapshot_release(&s);
	if (error == -EINVAL)
		warn(r, "%s: line %u is damaged; what follows it is left out", info->name, f.line);
	else if (!error && d.begun && !r->runs)
		warn(r, "%s: the last block is incomplete and left out", info->name);
	return error == -EINVAL || error == -ENODATA ? 0 : error;
}

static int open_logs(struct inspect_reader *r, int dir_fd)
{
	int error = 0;

	for (size_t i = 0; !error && i < ARCHIVE_LOGS; i++) {
		r->log[i].fd = openat(dir_fd, archive_logs[i].name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW |
				      O_NONBLOCK);
		if (r->log[i].fd >= 0)
			error = scan(r, (enum archive_log)i);
		else if (errno != ENOENT)
			error = -errno;
	}
	r->x.n_snapshots = r->log[ARCHIVE_MAPS].n;
	return error;
}

/* process.log */

static int add_look(struct inspect_reader *r, struct slice line)
{
	struct inspect_look look, *added;
	struct cursor c;

	cursor_init(&c, line.p, line.len);
	if (!cursor_i64(&c, &look.time_us) || look.time_us < 0 ||
	    look.time_us > ARCHIVE_TIME_MAX ||
	    (r->n_looks && look.time_us < r->look[r->n_looks - 1].time_us) ||
	    !cursor_byte(&c, ' ') || !archive_decode_values(&c, &look.process))
		return -EINVAL;
	added = array_add(&r->look, &r->n_looks, sizeof *added);
	if (!added)
		return -ENOMEM;
	*added = look;
	return 0;
}

static int read_history(struct inspect_reader *r, int dir_fd)
{
	int fd = openat(dir_fd, ARCHIVE_PROCESS_LOG, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct slice line;
	struct feed f;
	int error;

	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	feed_init(&f, NULL, 0, fd, r->memory);
	error = check_header(&f, ARCHIVE_PROCESS_HEADER);
	while (!error) {
		enum feed_line got = feed_line(&f, &line);

		if (got == FEED_END || got == FEED_TORN) {
			error = f.error;
			break;
		}
		error = got == FEED_WHOLE ? add_look(r, line) : -EINVAL;
	}
	close(fd);
	if (error == -EINVAL)
		warn(r, ARCHIVE_PROCESS_LOG ": line %u is damaged; what follows it is left out",
		     f.line);
	return error == -EINVAL || error == -ENODATA ? 0 : error;
}

static int read_symbols(struct inspect_reader *r, int dir_fd)
{
	struct buf text = BUF_INIT;
	struct error err = { 0 };
	int error = readfile_at(&text, dir_fd, SYMBOLS_LOG, SYMBOLS_MAX);

	if (!error) {
		error = symbols_log_read(&r->x, buf_str(&text), text.len, SYMBOLS_LOG, &err);
		if (error == -EINVAL)
			warn(r, SYMBOLS_LOG ": %s", err.message);
	}
	buf_release(&text);
	return error == -ENOENT || error == -EINVAL ? 0 : error;
}

/* Opening */

static void fill_inspection(struct inspect_reader *r)
{
	const struct archive_meta *m = &r->meta;
	const char *heap = archive_meta_text(m, "heap");
	struct inspection *x = &r->x;

	x->arena = m->arena;
	x->names.arena = m->arena;
	x->host = archive_meta_text(m, "host");
	x->machine = archive_meta_text(m, "machine");
	x->command = archive_meta_text(m, "command");
	x->program = archive_meta_text(m, "program");
	x->task = archive_meta_text(m, "task");
	x->why = archive_meta_text(m, "why");
	x->end = archive_meta_text(m, "end");
	x->uncounted = archive_meta_text(m, "uncounted");
	x->pid = (int32_t)archive_meta_number(m, "pid", INT32_MAX, 0);
	x->start_ticks = (uint64_t)archive_meta_number(m, "start_ticks", INT64_MAX, 0);
	x->start_us = archive_meta_number(m, "start_us", ARCHIVE_TIME_MAX, 0);
	x->start_ns = archive_meta_number(m, "start_ns", INT64_MAX, 0);
	x->heap = !strcmp(heap, "sampled") ? HEAP_SAMPLED : !strcmp(heap, "exact") ? HEAP_EXACT :
		HEAP_OFF;
	x->heap_period = (uint64_t)archive_meta_number(m, "heap_period", INT64_MAX, 0);
	r->runs = !archive_meta_find(m, "end") &&
		archive_meta_writer_runs(archive_meta_text(m, "inspector"), x->host, NULL);
}

static int read_all(struct inspect_reader *r, int dir_fd, struct error *err)
{
	int error = archive_meta_read(&r->meta, dir_fd, r->path, err);

	if (error)
		return error;
	fill_inspection(r);
	r->memory = malloc(FEED_MEMORY);
	error = r->memory ? open_logs(r, dir_fd) : -ENOMEM;
	if (!error)
		error = read_history(r, dir_fd);
	if (!error)
		error = read_symbols(r, dir_fd);
	return error ? error_sys(err, error, r->path, NULL) : 0;
}

int inspect_reader_open(struct inspect_reader **out, const char *path, struct error *err)
{
	struct inspect_reader *r = calloc(1, sizeof *r);
	int dir_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), error;

	*out = NULL;
	if (dir_fd < 0 || !r) {
		error = error_sys(err, r ? -errno : -ENOMEM, path, NULL);
	} else {
		for (size_t i = 0; i < ARCHIVE_LOGS; i++)
			r->log[i].fd = -1;
		snprintf(r->path, sizeof r->path, "%s", path);
		error = read_all(r, dir_fd, err);
	}
	file_close(dir_fd);
	if (error && r)
		inspect_reader_close(r);
	else
		*out = r;
	return error;
}

void inspect_reader_close(struct inspect_reader *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < ARCHIVE_LOGS; i++) {
		file_close(r->log[i].fd);
		free(r->log[i].place);
	}
	snapshot_release(&r->now);
	free_all(r->look, r->memory, r->x.module, r->x.frame, r->x.stack, r->x.frame_name);
	name_table_release(&r->x.names);
	archive_meta_release(&r->meta);
	free(r);
}

const struct inspection *inspect_reader_inspection(const struct inspect_reader *r)
{
	return &r->x;
}

const char *inspect_reader_warning(const struct inspect_reader *r)
{
	return r->warning[0] ? r->warning : NULL;
}

const struct inspect_look *inspect_reader_history(const struct inspect_reader *r, size_t *n)
{
	*n = r->n_looks;
	return r->look;
}

const char *inspect_reader_fact(const struct inspect_reader *r, const char *key)
{
	return archive_meta_find(&r->meta, key);
}

/* Snapshots */

/* The block of a snapshot in a log, log->n if it has none. */
static size_t find_block(const struct log *log, size_t number)
{
	struct search_range s = search_all(log->n);

	while (search_next(&s))
		search_past(&s, log->place[s.at].number < number);
	return s.at < log->n && log->place[s.at].number == number ? s.at : log->n;
}

/* Make r->now what the block has. */
static int decode_to(struct inspect_reader *r, enum archive_log which, size_t block)
{
	struct log *log = &r->log[which];
	struct feed f;
	struct archive_decoder d = { .feed = &f, .x = &r->x, .known = true };
	size_t from = block;

	while (from && !log->place[from].all && from != log->next)
		from--;
	if (block + 1 == log->next)
		return 0;
	if (lseek(log->fd, log->place[from].offset, SEEK_SET) < 0)
		return -errno;
	feed_init(&f, NULL, 0, log->fd, r->memory);
	for (; from <= block; from++) {
		int error = archive_decode(&d, which, &r->now);

		log->next = 0;
		if (error != 1)
			return error ? error : -EINVAL;
	}
	log->next = block + 1;
	return 0;
}

/* Decode the block of a snapshot in a log, which need not have one. */
static int decode_any(struct inspect_reader *r, enum archive_log log, size_t i, bool *has)
{
	size_t block = find_block(&r->log[log], i);

	*has = block < r->log[log].n;
	return *has ? decode_to(r, log, block) : 0;
}

static int add_heap(struct inspect_reader *r, size_t i, struct snapshot *s)
{
	int error = decode_any(r, ARCHIVE_HEAP, i, &s->has_heap);

	if (error || !s->has_heap)
		return error;
	error = archive_merge_copy(&s->site, &s->n_sites, r->now.site, r->now.n_sites, sizeof *s->site);
	return error ? error : archive_merge_copy(&s->range, &s->n_ranges, r->now.range,
						  r->now.n_ranges, sizeof *s->range);
}

static int add_pages(struct inspect_reader *r, size_t i, struct snapshot *s)
{
	int error = decode_any(r, ARCHIVE_PAGES, i, &s->has_pages);

	if (error || !s->has_pages)
		return error;
	return archive_merge_copy(&s->resident, &s->n_resident, r->now.resident, r->now.n_resident,
				  sizeof *s->resident);
}

int inspect_reader_snapshot(struct inspect_reader *r, size_t i, struct snapshot *s,
			    struct error *err)
{
	const struct snapshot *now = &r->now;
	int error = i < r->x.n_snapshots ? decode_to(r, ARCHIVE_MAPS, i) : -EINVAL;

	snapshot_clear(s);
	if (!error) {
		s->time_us = now->time_us;
		s->took_us = now->took_us;
		s->frozen = now->frozen;
		s->ended = now->ended;
		s->process = now->process;
		error = archive_merge_copy(&s->mapping, &s->n, now->mapping, now->n,
					   sizeof *s->mapping);
	}
	if (!error && now->has_heap)
		error = add_heap(r, i, s);
	if (!error && now->has_pages)
		error = add_pages(r, i, s);
	return error ? error_sys(err, error, r->path, "cannot read the snapshot") : 0;
}
