/* SPDX-License-Identifier: MIT */
#include "recording/recording_write.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/field.h"
#include "base/file.h"
#include "base/outdir.h"
#include "command/redact.h"
#include "recording/event.h"
#include "recording/layout.h"
#include "recording/store.h"
#include "recording/store_create.h"
#include "recording/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FLOW_SIZE ((size_t)1 << 20)
#define KEY_MAX_LEN 200
#define VALUE_MAX_LEN (EVENT_MAX - 256)
#define NAMES_TRIED 1000

/* Files */

static void flush_writer(struct writer *o)
{
	if (!o->error)
		o->error = buf_error(&o->b);
	if (!o->error)
		o->error = file_write_all(o->fd, o->b.data, o->b.len);
	buf_clear(&o->b);
}

void writer_flow(struct writer *o)
{
	if (o->b.len >= FLOW_SIZE && o->fd >= 0)
		flush_writer(o);
}

static int open_out(struct writer *o, int dir_fd, const char *name)
{
	*o = (struct writer){ .b = BUF_INIT };
	o->fd = file_open_at(dir_fd, name, O_WRONLY | O_CREAT | O_EXCL);
	return o->fd < 0 ? o->fd : 0;
}

static int close_out(struct writer *o)
{
	flush_writer(o);
	if (close(o->fd) && !o->error)
		o->error = -errno;
	buf_release(&o->b);
	return o->error;
}

static void add_line(struct buf *b, const char *key, const char *value)
{
	field_add(b, key, strlen(key), KEY_MAX_LEN);
	buf_adds(b, ": ");
	redact_field(b, value, strlen(value), VALUE_MAX_LEN);
	buf_addc(b, '\n');
}

static void add_number(struct buf *b, const struct recording *rec, const char *key, int64_t n)
{
	if (n >= 0 && !recording_build(rec, key))
		buf_addf(b, "%s: %lld\n", key, (long long)n);
}

static void write_build(struct writer *o, const struct recording *rec)
{
	buf_adds(&o->b, LAYOUT_BUILD_HEADER);
	for (size_t i = 0; i < rec->n_build; i++) {
		if (strcmp(rec->build[i].key, LAYOUT_WARNING) &&
		    strcmp(rec->build[i].key, LAYOUT_SUSPENDED))
			add_line(&o->b, rec->build[i].key, rec->build[i].value);
	}
	add_number(&o->b, rec, "start_wall_ns", rec->start_wall_ns);
	add_number(&o->b, rec, "start_mono_ns", rec->start_mono_ns);
	add_number(&o->b, rec, "interval_ms", rec->interval_ms);
	add_number(&o->b, rec, "end_us", rec->end_us);
	for (size_t i = 0; i < rec->n_warnings; i++)
		add_line(&o->b, LAYOUT_WARNING, rec->warning[i].text);
}

/* The files of proc_NAME.log are found by that name again. */
static bool is_series_name(const char *name)
{
	return !strncmp(name, "proc_", 5) && !strchr(name, '/') && strlen(name) < 200;
}

static int write_all_series(int dir_fd, const struct recording *rec)
{
	int r = 0;

	for (size_t i = 0; !r && i < rec->n_series; i++) {
		const struct series *s = &rec->series[i];
		char name[256];
		struct writer o;

		if (!is_series_name(s->name))
			return -EINVAL;
		snprintf(name, sizeof name, "%s.log", s->name);
		r = open_out(&o, dir_fd, name);
		if (r)
			return r;
		writer_add_series(&o, s);
		r = close_out(&o);
	}
	return r;
}

static int write_file(int dir_fd, const char *name, const struct recording *rec,
		      const struct recording_parts *parts, char (*id)[INSTANCE_ID_MAX],
		      void (*write_it)(struct writer *, const struct recording *))
{
	struct writer o;
	int r = open_out(&o, dir_fd, name);

	if (r)
		return r;
	o.id = id;
	o.parts = parts;
	write_it(&o, rec);
	return close_out(&o);
}

static int write_original(int dir_fd, const struct recording *rec)
{
	struct writer o;
	int r = open_out(&o, dir_fd, LAYOUT_ORIGINAL);

	if (r)
		return r;
	o.error = file_write_all(o.fd, rec->original.data, rec->original.len);
	return close_out(&o);
}

static int write_files(int dir_fd, const struct recording *rec,
		       const struct recording_parts *parts)
{
	char (*id)[INSTANCE_ID_MAX] = array_new_zero(rec->n_instances + 1, sizeof *id);
	int r = id ? writer_ids(id, rec) : -ENOMEM;

	if (!r)
		r = write_file(dir_fd, LAYOUT_BUILD, rec, NULL, id, write_build);
	if (!r)
		r = write_file(dir_fd, LAYOUT_TASKS, rec, parts, id, writer_add_tasks);
	if (!r)
		r = write_all_series(dir_fd, rec);
	if (!r && rec->n_usage)
		r = write_file(dir_fd, LAYOUT_PROC_TASKS, rec, NULL, id, writer_add_usage);
	if (!r && rec->original.len)
		r = write_original(dir_fd, rec);
	if (!r && (rec->n_files || rec->has_cache))
		r = write_file(dir_fd, LAYOUT_RESULTS, rec, NULL, id, writer_add_results);
	free(id);
	return r;
}

/* Directories */

static int write_dir(const char *dir, const struct recording *rec,
		     const struct recording_parts *parts)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r = fd < 0 ? -errno : write_files(fd, rec, parts);

	file_close(fd);
	return r;
}

/* An own name counts up until it is free. */
static int place_recording(const char *dir, mode_t mode, const char *base, const char *name,
			   bool own, char path[PATH_MAX])
{
	int r = -EEXIST;

	for (unsigned i = 1; r == -EEXIST && i < NAMES_TRIED; i++) {
		int n = i == 1 ? snprintf(path, PATH_MAX, "%s/%s", base, name) :
			snprintf(path, PATH_MAX, "%s/%s-%u", base, name, i);

		r = n < PATH_MAX ? outdir_finish(dir, path, mode) : -ENAMETOOLONG;
		if (!own)
			break;
	}
	return r;
}

static bool is_plain(const char *name)
{
	return *name && *name != '.' && !strchr(name, '/') && strlen(name) < 200;
}

static int write_beside(const struct recording *rec, const struct recording_parts *parts,
			enum store_access access, const char *base, const char *name, bool own,
			char path[PATH_MAX], struct error *err)
{
	mode_t mode = store_dir_mode(access);
	char dir[PATH_MAX];
	int r;

	if (snprintf(path, PATH_MAX, "%s/%s", base, name) >= PATH_MAX)
		return error_sys(err, -ENAMETOOLONG, base, NULL);
	r = store_make_base(base, access, err);
	if (!r)
		r = outdir_begin(dir, path, err);
	if (r)
		return r;
	r = chmod(dir, mode) ? -errno : write_dir(dir, rec, parts);
	if (!r)
		r = place_recording(dir, mode, base, name, own, path);
	if (r) {
		outdir_discard(dir);
		return error_sys(err, r, r == -EEXIST ? path : base,
				 "cannot write the recording");
	}
	store_link_latest(base, path);
	return 0;
}

int recording_write_parts(const struct recording *rec, const struct recording_parts *parts,
			  enum store_access access, const char *base, const char *name,
			  char path[PATH_MAX], struct error *err)
{
	char absolute[PATH_MAX], stamp[64];
	struct buf b;
	int r = file_absolute(absolute, base ? base : LAYOUT_BASE);

	if (r)
		return error_sys(err, r, base, "cannot write the recording");
	if (name && !is_plain(name))
		return error_say(err, -EINVAL, "expected a name that has no '/' in it and begins "
				 "with no '.', not '%.100s'", name);
	buf_init_fixed(&b, stamp, sizeof stamp);
	clock_add_name(&b, rec->start_wall_ns >= 0 ? rec->start_wall_ns : clock_wall_ns());
	return write_beside(rec, parts, access, absolute, name ? name : buf_str(&b), !name, path, err);
}
