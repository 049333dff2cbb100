/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/readfile.h"
#include "recording/alive.h"
#include "recording/layout.h"
#include "recording/growing_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BEGIN_NS 5000000000	/* the first lines of a new recording are there after that */
#define HOST_IDLE_NS 1000000000	/* after the end, a host writes nothing more after that */
#define FAR_IDLE_NS 120000000000	/* a recording from elsewhere is dead after that */

void growing_writers_init(struct growing_writers *w)
{
	*w = (struct growing_writers){ .start_wall_ns = -1, .start_mono_ns = -1, .end_us = -1,
				    .interval_ms = 1000 };
}

static void set_number(int64_t *to, struct slice value)
{
	int64_t n;

	if (cursor_slice_i64(value, &n) && n >= 0)
		*to = n;
}

/* Names of machines are short, and without characters that are escaped. */
static bool is_this(struct slice value, bool (*is)(const char *))
{
	char text[256];

	if (value.len >= sizeof text)
		return false;
	memcpy(text, value.p, value.len);
	text[value.len] = '\0';
	return is(text);
}

void growing_writers_build(struct growing_writers *w, struct slice key, struct slice value)
{
	int64_t pid = 0;

	if (slice_is(key, "start_wall_ns"))
		set_number(&w->start_wall_ns, value);
	else if (slice_is(key, "start_mono_ns"))
		set_number(&w->start_mono_ns, value);
	else if (slice_is(key, "end_us"))
		set_number(&w->end_us, value);
	else if (slice_is(key, "interval_ms"))
		set_number(&w->interval_ms, value);
	else if (slice_is(key, "sampler_pid"))
		set_number(&pid, value);
	else if (slice_is(key, "buildbeat"))
		w->described = true;
	else if (slice_is(key, "tool"))
		w->is_host = true;
	else if (slice_is(key, LAYOUT_IMPORTED))
		w->imported = true;
	else if (slice_is(key, "host"))
		w->same_host = is_this(value, alive_same_host);
	else if (slice_is(key, "boot_id"))
		w->same_boot = is_this(value, alive_same_boot);
	if (pid > 0 && pid <= INT32_MAX)
		w->pid = (int32_t)pid;
}

static struct growing_instance *find_instance(struct growing_writers *w, struct slice id)
{
	for (size_t i = w->n_open; i > 0; i--) {
		if (slice_is(id, w->open[i - 1].id))
			return &w->open[i - 1];
	}
	return NULL;
}

static int add_open(struct growing_writers *w, struct event *e)
{
	struct growing_instance *added = array_add(&w->open, &w->n_open, sizeof *added);
	int64_t pid = event_number(e);

	if (!added)
		return -ENOMEM;
	*added = (struct growing_instance){ .open_us = e->time_us,
					 .pid = pid > 0 && pid <= INT32_MAX ? (int32_t)pid : 0 };
	memcpy(added->id, e->inst.p, e->inst.len);
	return 0;
}

int growing_writers_event(struct growing_writers *w, struct event e)
{
	struct growing_instance *open;

	if (e.kind == EVENT_OPEN)
		return add_open(w, &e);
	open = e.kind == EVENT_CLOSE ? find_instance(w, e.inst) : NULL;
	if (open)
		*open = w->open[--w->n_open];
	return 0;
}

static bool is_there(const struct growing_writers *w, int32_t pid, int64_t time_us)
{
	return alive_since(pid, w->start_mono_ns + time_us * 1000);
}

bool growing_writers_are_stopped(const struct growing_writers *w)
{
	return w->pid && w->same_host && w->same_boot && alive_is_stopped(w->pid, w->start_mono_ns);
}

/* An instance that was closed may go on, if its exec failed, but not without its launcher. */
static bool any_open(const struct growing_writers *w)
{
	for (size_t i = 0; i < w->n_open; i++) {
		if (is_there(w, w->open[i].pid, w->open[i].open_us))
			return true;
	}
	return false;
}

/* Does the process that makes the recording live? See store_create_for(). */
static bool is_held(int dir_fd)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int fd = file_is_nfs(dir_fd) ? -1 : readfile_open(dir_fd, LAYOUT_BUILD);
	bool held;

	if (fd < 0)
		return false;
	held = !fcntl(fd, F_OFD_GETLK, &lock) && lock.l_type != F_UNLCK;
	close(fd);
	return held;
}

/* Is the recording being made? While its process has no lock yet, or cannot have one, nothing of it
 * is old. */
static bool is_new(const struct growing_writers *w, int dir_fd, int64_t idle_ns)
{
	int64_t age_ns = w->start_wall_ns < 0 ? idle_ns : clock_wall_ns() - w->start_wall_ns;

	return !w->described && ((age_ns >= 0 && age_ns < BEGIN_NS) || is_held(dir_fd));
}

bool growing_writers_exist(const struct growing_writers *w, int dir_fd, int64_t idle_ns)
{
	if (w->imported)
		return false;
	if (w->end_us >= 0 && (w->is_host || !w->same_host))
		return idle_ns < HOST_IDLE_NS;
	if (is_new(w, dir_fd, idle_ns))
		return true;
	if (w->start_mono_ns < 0)
		return false;
	if (!w->same_host)
		return idle_ns < FAR_IDLE_NS + 3 * w->interval_ms * 1000000;
	if (!w->same_boot)
		return false;
	if (is_there(w, w->pid, 0))
		return true;
	return w->end_us < 0 && any_open(w);
}

/* For how long the files of a directory were unchanged, INT64_MAX: nobody knows. */
static int64_t idle_ns(DIR *dir)
{
	int64_t newest_ns = -1, time_ns;
	struct dirent *entry;
	struct stat st;

	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.' ||
		    fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		time_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
		newest_ns = time_ns > newest_ns ? time_ns : newest_ns;
	}
	return newest_ns < 0 ? INT64_MAX : clock_wall_ns() - newest_ns;
}

bool growing_runs(const struct recording *rec)
{
	struct growing_writers w;
	int64_t idle;
	bool runs;
	DIR *dir;
	int fd;

	growing_writers_init(&w);
	for (size_t i = 0; i < rec->n_build; i++) {
		const char *key = rec->build[i].key, *value = rec->build[i].value;

		growing_writers_build(&w, (struct slice){ key, strlen(key) },
				      (struct slice){ value, strlen(value) });
	}
	/* `latest` is a link */
	fd = rec->path && !w.imported ? file_open_at(AT_FDCWD, rec->path, O_RDONLY | O_DIRECTORY) : -1;
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		file_close(fd);
		return false;
	}
	if (w.start_mono_ns < 0) {
		/* it may be of another tool, whose files are new as well */
		runs = is_held(dirfd(dir));
	} else {
		idle = idle_ns(dir);
		runs = growing_writers_exist(&w, dirfd(dir), idle) ||
		       (w.end_us < 0 && w.same_boot && idle < HOST_IDLE_NS + 3 * w.interval_ms * 1000000);
	}
	closedir(dir);
	return runs;
}
