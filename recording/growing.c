/* SPDX-License-Identifier: MIT */
#include "recording/growing.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/readfile.h"
#include "base/str.h"
#include "recording/layout.h"
#include "recording/lost.h"
#include "recording/growing_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OPEN_MAX_FILES 200	/* further files are opened for each reading */
#define PACKED_MAX ((size_t)1 << 30)
#define SETTLE_NS 1000000000	/* a change of a directory may have the time of the one before */

struct growing {
	int dir_fd;
	char *path;
	const struct recording_codec *codec;
	struct growing_to to;
	void *context;
	size_t n_files, n_open;
	struct growing_file **file;	/* by kind, then by name */
	struct timespec dir_time;	/* when it was listed */
	bool listed;		/* nothing has changed since */
	bool removed;		/* with all its files */
	bool grew;		/* in the last reading */
	uint64_t left;		/* bytes that this reading may still have */
	int64_t grew_ns;	/* when something was read last, CLOCK_MONOTONIC */
	struct growing_writers writers;
	struct suspended suspended;
	struct growing_damage damage;
	char window[FEED_CHUNK];
};

/* Lines */

static bool split(struct slice line, struct slice *key, struct slice *value)
{
	struct cursor c;

	cursor_init(&c, line.p, line.len);
	if (!memchr(line.p, ':', line.len) || !cursor_until(&c, ':', key) || !key->len)
		return false;
	cursor_byte(&c, ' ');
	*value = (struct slice){ c.p, (size_t)(c.end - c.p) };
	return true;
}

static int add_suspended(struct growing *t, struct slice value)
{
	int r = suspended_add(&t->suspended, value);
	int64_t from_us;

	if (r)
		return r;
	from_us = suspended_move(&t->suspended, t->suspended.since_us);
	for (size_t i = 0; i < t->n_files; i++)
		growing_series_suspended(&t->file[i]->series, from_us);
	return 0;
}

/* The end of the build without suspended times. */
static struct slice moved_end(const struct growing *t, struct slice value, char text[32])
{
	int64_t end_us;
	struct buf b;

	if (!t->suspended.n || !cursor_slice_i64(value, &end_us))
		return value;
	buf_init_fixed(&b, text, 32);
	buf_addi(&b, suspended_move(&t->suspended, end_us));
	return (struct slice){ text, b.len };
}

static int build_line(struct growing *t, struct slice line)
{
	struct slice key, value;
	char text[32];
	int r = 0;

	if (!line.len)
		return 0;
	if (!split(line, &key, &value))
		return -EBADMSG;
	growing_writers_build(&t->writers, key, value);
	if (slice_is(key, LAYOUT_SUSPENDED) && !t->to.as_recorded)
		r = add_suspended(t, value);
	else if (slice_is(key, "end_us"))
		value = moved_end(t, value, text);
	if (r)
		return r;
	return t->to.build ? t->to.build(t->context, key, value) : 0;
}

/* Is there a line to deliver? Otherwise 0, or -EBADMSG if it is damaged. */
static int is_parsed(struct growing *t, enum event_parsed parsed)
{
	t->damage.unknown += parsed == EVENT_UNKNOWN;
	return parsed == EVENT_DAMAGED ? -EBADMSG : parsed == EVENT_PARSED;
}

static int task_line(struct growing *t, struct slice line)
{
	const struct suspended ended = suspended_ended(&t->suspended);
	struct event e;
	int r = is_parsed(t, event_parse(line, &e));

	if (r <= 0)
		return r;
	if (e.time_us < 0 || e.time_us > EVENT_TIME_MAX_US)
		return -EBADMSG;
	r = growing_writers_event(&t->writers, e);
	e.time_us = suspended_move(&ended, e.time_us);
	return r || !t->to.event ? r : t->to.event(t->context, &e);
}

static int lost_line(struct growing *t, struct slice line)
{
	struct lost lost = { .lines = 0 };

	if (!lost_parse(&lost, line, NULL))
		return -EBADMSG;
	return t->to.lost ? t->to.lost(t->context, lost.tasks) : 0;
}

static void move_process(const struct suspended *parts, struct process_line *l)
{
	int64_t began_us = l->time_us - l->wall_us, start_us = suspended_move(parts, began_us);

	l->time_us = suspended_move(parts, l->time_us);
	if (l->word == PROCESS_LOST)
		return;
	if (l->exec_us >= 0)
		l->exec_us = suspended_move(parts, began_us + l->exec_us) - start_us;
	l->wall_us = l->time_us - start_us;
}

static int process_line(struct growing *t, struct slice line)
{
	const struct suspended ended = suspended_ended(&t->suspended);
	struct process_line l;
	int r = is_parsed(t, process_log_parse(line, &l));

	if (r <= 0)
		return r;
	move_process(&ended, &l);
	return t->to.process ? t->to.process(t->context, &l) : 0;
}

/* proc_tasks.log: how much memory all running tasks have together. */
static int usage_line(struct growing *t, struct growing_file *f, struct slice line)
{
	int64_t before_kb = f->usage.kb, time_ms;
	int r;

	f->usage.sampled = t->to.usage ? t->to.sampled : NULL;
	f->usage.usage = t->to.usage;
	f->usage.context = t->context;
	r = reader_usage_line(&f->usage, line, &time_ms);

	if (r || time_ms < 0 || f->usage.kb == before_kb || !t->to.memory)
		return r == -EAGAIN ? 0 : r;
	return t->to.memory(t->context, suspended_move_ms(&t->suspended, time_ms), f->usage.kb > 0 ? f->usage.kb : 0);
}

/* A first line, at the beginning or further on. */
static int first_line(struct growing *t, struct growing_file *f, struct slice line)
{
	struct slice rest;

	if (!reader_parse_header(line, f->word, &rest)) {
		f->left_out |= !f->begun;
		f->series.d.blind = true;
		f->usage.n_columns = 0;
		return -EBADMSG;
	}
	f->begun = true;
	return f->kind == GROWING_SERIES ? growing_series_begin(&f->series, rest) :
	       f->kind == GROWING_USAGE ? usage_line(t, f, line) : 0;
}

static int deliver(struct growing *t, struct growing_file *f, struct slice line)
{
	if (f->left_out)
		return 0;
	if (!f->begun || (f->kind != GROWING_USAGE && f->kind != GROWING_SERIES ? slice_starts(line, "buildbeat ") :
			  line.len && *line.p == 'b'))
		return first_line(t, f, line);
	switch (f->kind) {
	case GROWING_BUILD: return build_line(t, line);
	case GROWING_TASKS: return task_line(t, line);
	case GROWING_LOST: return lost_line(t, line);
	case GROWING_PROCESSES: return process_line(t, line);
	case GROWING_USAGE: return usage_line(t, f, line);
	case GROWING_SERIES: break;
	}
	return growing_series_line(&f->series, f->word, line, &t->suspended, &t->to, t->context);
}

static int deliver_line(struct growing *t, struct growing_file *f, struct slice line)
{
	int r = f->too_long ? -EBADMSG : deliver(t, f, line);

	f->too_long = false;
	if (r != -EBADMSG)
		return r;
	t->damage.lines++;
	return 0;
}

/* Keep a part of a line until its newline comes. */
static int keep_part(struct growing_file *f, const char *p, size_t len)
{
	if (f->rest.len + len > FEED_LINE_MAX)
		f->too_long = true;
	if (f->too_long)
		buf_clear(&f->rest);
	else
		buf_add(&f->rest, p, len);
	return buf_error(&f->rest);
}

static int deliver_text(struct growing *t, struct growing_file *f, const char *p, size_t len)
{
	const char *end = p + len, *eol;
	int r = 0;

	t->grew |= len > 0;
	for (; !r && p < end && (eol = memchr(p, '\n', (size_t)(end - p))); p = eol + 1) {
		struct slice line = { p, (size_t)(eol - p) };

		if (f->rest.len || f->too_long || line.len > FEED_LINE_MAX) {
			r = keep_part(f, p, line.len);
			line = (struct slice){ buf_str(&f->rest), f->rest.len };
		}
		if (!r)
			r = deliver_line(t, f, line);
		buf_clear(&f->rest);
	}
	return r || p >= end ? r : keep_part(f, p, (size_t)(end - p));
}

/* Files */

static int open_plain(struct growing *t, struct growing_file *f)
{
	int fd = readfile_open(t->dir_fd, f->name);

	if (fd < 0)
		return fd;
	f->fd = fd;
	t->n_open++;
	return 0;
}

static void close_plain(struct growing *t, struct growing_file *f)
{
	if (f->fd < 0)
		return;
	close(f->fd);
	f->fd = -1;
	t->n_open--;
}

static int read_plain(struct growing *t, struct growing_file *f)
{
	ssize_t n;
	int r = 0;

	do {
		n = pread(f->fd, t->window, sizeof t->window, (off_t)f->offset);
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0) {
			f->offset += (uint64_t)n;
			t->left -= (uint64_t)n < t->left ? (uint64_t)n : t->left;
			r = deliver_text(t, f, t->window, (size_t)n);
		}
	} while (!r && t->left && (n < 0 || n == sizeof t->window));
	return r;
}

/* The plain file is removed only after the packed one is complete. If it is still there and has
 * that length, it is the same. */
static int read_packed(struct growing *t, struct growing_file *f, struct error *why)
{
	struct buf packed = BUF_INIT, text = BUF_INIT;
	char name[sizeof f->name + 8];
	struct stat st;
	int r;

	snprintf(name, sizeof name, "%s" LAYOUT_ZSTD_SUFFIX, f->name);
	r = readfile_at(&packed, t->dir_fd, name, PACKED_MAX);
	if (!r)
		r = t->codec ? t->codec->unpack(&text, packed.data, packed.len, why) : -ENOTSUP;
	buf_release(&packed);
	if (!r && f->offset < text.len)
		r = deliver_text(t, f, text.data + f->offset, text.len - f->offset);
	if (!r && f->rest.len)
		r = deliver_text(t, f, "\n", 1);
	f->unpacked = !r;
	f->offset = !fstatat(t->dir_fd, f->name, &st, 0) && (uint64_t)st.st_size == text.len ?
		    text.len : 0;
	buf_release(&text);
	return r;
}

static int read_file(struct growing *t, struct growing_file *f, struct error *why)
{
	int r = 0;

	if (f->fd < 0 && f->packed && !f->unpacked && !f->offset)
		r = read_packed(t, f, why);
	if (!r && f->fd < 0 && f->plain)
		r = open_plain(t, f);
	if (r == -ENOENT && f->packed && !f->unpacked)
		r = read_packed(t, f, why);
	if (r == -ENOENT) {
		f->plain = false;
		r = 0;
	}
	if (!r && f->fd >= 0)
		r = read_plain(t, f);
	if (t->n_open > OPEN_MAX_FILES)
		close_plain(t, f);
	return r;
}

/* The directory */

static bool kind_of(const char *name, enum growing_kind *kind)
{
	if (reader_is_tasks(name))
		*kind = GROWING_TASKS;
	else if (!strcmp(name, LAYOUT_BUILD))
		*kind = GROWING_BUILD;
	else if (!strcmp(name, LAYOUT_LOST))
		*kind = GROWING_LOST;
	else if (!strcmp(name, LAYOUT_PROCESSES))
		*kind = GROWING_PROCESSES;
	else if (!strcmp(name, LAYOUT_PROC_TASKS))
		*kind = GROWING_USAGE;
	else if (str_starts(name, "proc_") && str_ends(name, ".log"))
		*kind = GROWING_SERIES;
	else
		return false;
	return true;
}

static int by_kind(const void *a, const void *b)
{
	const struct growing_file *x = *(struct growing_file *const *)a, *y = *(struct growing_file *const *)b;

	return x->kind != y->kind ? array_order(x->kind, y->kind) : strcmp(x->name, y->name);
}

/* Among the first n, which are sorted. */
static struct growing_file *find_file(const struct growing *t, size_t n, const char *name,
				   enum growing_kind kind)
{
	struct growing_file key = { .kind = kind }, *wanted = &key, **found;

	strcpy(key.name, name);
	found = n ? bsearch(&wanted, t->file, n, sizeof *t->file, by_kind) : NULL;
	return found ? *found : NULL;
}

static struct growing_file *new_file(struct growing *t, const char *name, enum growing_kind kind)
{
	struct growing_file *f = calloc(1, sizeof *f), **added;

	added = f ? array_add(&t->file, &t->n_files, sizeof *added) : NULL;
	if (!added) {
		free(f);
		return NULL;
	}
	*added = f;
	f->kind = kind;
	f->fd = -1;
	strcpy(f->name, name);
	snprintf(f->word, sizeof f->word, "%s", kind == GROWING_TASKS ? LAYOUT_TASKS_PREFIX : name);
	if (str_ends(f->word, ".log"))
		f->word[strlen(f->word) - strlen(".log")] = '\0';
	f->series.d.grid = f->series.time_ms = f->series.before_ms = f->series.delivered_ms = -1;
	return f;
}

static bool is_known(const char *name)
{
	enum growing_kind kind;

	return kind_of(name, &kind);
}

static int list_entries(struct growing *t)
{
	size_t n, n_sorted = t->n_files;
	struct reader_name *list;
	int r = reader_list(t->dir_fd, is_known, &list, &n);

	for (size_t i = 0; i < n && !r; i++) {
		enum growing_kind kind = GROWING_BUILD;
		struct growing_file *f;

		kind_of(list[i].name, &kind);
		f = find_file(t, n_sorted, list[i].name, kind);
		if (!f)
			f = new_file(t, list[i].name, kind);
		if (!f) {
			r = -ENOMEM;
			break;
		}
		f->packed |= list[i].packed;
		f->plain |= list[i].plain;
	}
	free(list);
	if (t->n_files)
		qsort(t->file, t->n_files, sizeof *t->file, by_kind);
	return r;
}

static bool same_time(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

/* List the directory if it has changed. */
static int list_files(struct growing *t)
{
	struct stat st;

	if (fstat(t->dir_fd, &st))
		return -errno;
	t->removed = !st.st_nlink;
	if (t->listed && same_time(st.st_mtim, t->dir_time))
		return 0;
	t->dir_time = st.st_mtim;
	t->listed = clock_wall_ns() - ((int64_t)st.st_mtim.tv_sec * 1000000000 +
				       st.st_mtim.tv_nsec) > SETTLE_NS;
	return list_entries(t);
}

/* Reading */

static int cannot_read(const struct growing *t, const struct growing_file *f, int r,
		       const struct error *why, struct error *err)
{
	char path[PATH_MAX];

	snprintf(path, sizeof path, "%s/%s", t->path, f->name);
	if (why->message[0])
		return error_set(err, r, path, 0, 0, "%s", why->message);
	return error_sys(err, r, path, "cannot read");
}

static int read_all(struct growing *t, struct error *err)
{
	int r = list_files(t);

	if (r)
		return error_sys(err, r, t->path, "cannot read");
	for (size_t i = 0; i < t->n_files && !r && t->left; i++) {
		struct error why = { 0 };

		r = read_file(t, t->file[i], &why);
		if (r)
			r = cannot_read(t, t->file[i], r, &why, err);
	}
	return r;
}

/* The time since the last change, as far as we saw one; otherwise as the files have it. */
static int64_t idle_ns(const struct growing *t)
{
	int64_t idle = clock_mono_ns() - t->grew_ns, wall_ns = clock_wall_ns();
	int64_t newest_ns = (int64_t)t->dir_time.tv_sec * 1000000000;

	for (size_t i = 0; i < t->n_files; i++) {
		struct stat st;

		if (t->file[i]->fd >= 0 && !fstat(t->file[i]->fd, &st) &&
		    (int64_t)st.st_mtim.tv_sec * 1000000000 > newest_ns)
			newest_ns = (int64_t)st.st_mtim.tv_sec * 1000000000;
	}
	return wall_ns - newest_ns > idle ? wall_ns - newest_ns : idle;
}

int growing_read(struct growing *t, struct error *err)
{
	return growing_read_some(t, UINT64_MAX, err);
}

bool growing_is_behind(const struct growing *t)
{
	return !t->left;
}

bool growing_is_stopped(const struct growing *t)
{
	return growing_writers_are_stopped(&t->writers);
}

bool growing_is_removed(const struct growing *t)
{
	return t->removed;
}

int growing_read_some(struct growing *t, uint64_t most, struct error *err)
{
	bool more = growing_writers_exist(&t->writers, t->dir_fd, idle_ns(t));
	int r;

	t->grew = false;
	t->left = most;
	r = read_all(t, err);
	if (t->grew)
		t->grew_ns = clock_mono_ns();
	/* The writers are known from what was read, so something must have been read without them. */
	if (r)
		return r;
	if ((more && !t->removed) || t->grew)
		return 1;
	for (size_t i = 0; i < t->n_files; i++)
		t->damage.torn |= t->file[i]->rest.len > 0;
	return 0;
}

const struct growing_damage *growing_damage(const struct growing *t)
{
	return &t->damage;
}

static bool is_ours(const struct growing *t)
{
	for (size_t i = 0; i < t->n_files; i++) {
		if (t->file[i]->kind <= GROWING_TASKS)
			return true;
	}
	return false;
}

int growing_open(struct growing **out, const char *path, const struct recording_codec *codec,
	      const struct growing_to *to, void *context, struct error *err)
{
	struct growing *t = calloc(1, sizeof *t);
	int r = t ? 0 : -ENOMEM;

	*out = t;
	if (!r) {
		*t = (struct growing){ .dir_fd = -1, .codec = codec, .to = *to, .context = context };
		growing_writers_init(&t->writers);
		t->grew_ns = clock_mono_ns();
		t->path = strdup(path);
		t->dir_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		r = !t->path ? -ENOMEM : t->dir_fd < 0 ? -errno : list_files(t);
	}
	if (r)
		return error_sys(err, r, path, "cannot read");
	return is_ours(t) ? 0 : error_set(err, -EINVAL, path, 0, 0, "not a recording");
}

void growing_close(struct growing *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->n_files; i++) {
		close_plain(t, t->file[i]);
		growing_series_release(&t->file[i]->series);
		reader_usage_release(&t->file[i]->usage);
		buf_release(&t->file[i]->rest);
		free(t->file[i]);
	}
	free_all(t->file, t->writers.open, t->path);
	suspended_release(&t->suspended);
	file_close(t->dir_fd);
	free(t);
}
