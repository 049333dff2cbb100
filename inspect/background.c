/* SPDX-License-Identifier: MIT */
#include "inspect/background.h"

#include "base/array.h"
#include "base/cursor.h"
#include "base/file.h"
#include "base/private_dir.h"
#include "base/readfile.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PLACE "buildbeat-inspect"
#define TASK_FILE "task"
#define KEPT_S 3600
#define ID_MAX 1000000000u
#define TASK_FILE_MAX (3 * PATH_MAX)
#define CANCEL_MS 5000

/* The private directory */

static bool find_place(char path[PATH_MAX], bool make, int *fd)
{
	return private_dir_find(path, PLACE, make, fd);
}

static int make_place(char path[PATH_MAX], struct error *err)
{
	int fd;

	if (find_place(path, true, &fd) && fd >= 0)
		return fd;
	return error_set(err, -EPERM, NULL, 0, 0, "no private directory in XDG_RUNTIME_DIR, TMPDIR, "
			 "/tmp or ~/.local/state for the tasks of inspections");
}

static bool read_id(unsigned *id, const char *name)
{
	uint64_t n;

	if (*name < '1' || *name > '9' || !cursor_slice_u64(slice_of(name), &n) || n > ID_MAX)
		return false;
	*id = (unsigned)n;
	return true;
}

static int by_number(const void *a, const void *b)
{
	return array_order(*(const unsigned *)a, *(const unsigned *)b);
}

static int list_ids(unsigned **id, size_t *n, int place_fd)
{
	DIR *dir = file_open_dir_at(place_fd, ".");
	struct dirent *entry;
	int r = dir ? 0 : -errno;

	*id = NULL;
	*n = 0;
	while (!r && (entry = readdir(dir))) {
		unsigned one, *place;

		if (!read_id(&one, entry->d_name))
			continue;
		place = array_add(id, n, sizeof *place);
		if (place)
			*place = one;
		else
			r = -ENOMEM;
	}
	if (dir)
		closedir(dir);
	if (*n)
		qsort(*id, *n, sizeof **id, by_number);
	return r;
}

static void remove_task(int place_fd, const char *name)
{
	int fd = openat(place_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return;
	unlinkat(fd, INSPECT_PROGRESS_LOG, 0);
	unlinkat(fd, TASK_FILE, 0);
	close(fd);
	unlinkat(place_fd, name, AT_REMOVEDIR);
}

/* What ended long ago: nothing has been added to its directory or progress since. */
static bool is_old(int place_fd, const char *name)
{
	char log[64];
	struct stat st;

	snprintf(log, sizeof log, "%s/" INSPECT_PROGRESS_LOG, name);
	if (fstatat(place_fd, log, &st, AT_SYMLINK_NOFOLLOW) &&
	    fstatat(place_fd, name, &st, AT_SYMLINK_NOFOLLOW))
		return false;
	return st.st_mtime < time(NULL) - KEPT_S;
}

static void forget_old(int place_fd, const char *place, const unsigned *id, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct inspect_progress_list l = INSPECT_PROGRESS_INIT;
		char name[16], path[PATH_MAX + 16];
		bool runs;

		snprintf(name, sizeof name, "%u", id[i]);
		if (!is_old(place_fd, name))
			continue;
		snprintf(path, sizeof path, "%s/%s", place, name);
		runs = !inspect_progress_read(&l, path, NULL) && l.runs;
		inspect_progress_release(&l);
		if (!runs)
			remove_task(place_fd, name);
	}
}

/* The task of this process */

static int take_id(struct background *b, int place_fd, unsigned last)
{
	char name[16];

	for (unsigned id = last + 1; id < ID_MAX; id++) {
		snprintf(name, sizeof name, "%u", id);
		if (!mkdirat(place_fd, name, 0700)) {
			b->id = id;
			b->dir_fd = openat(place_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
			return b->dir_fd < 0 ? -errno : 0;
		}
		if (errno != EEXIST)
			return -errno;
	}
	return -ENOSPC;
}

static int add_fact(const struct background *b, const char *key, const char *value)
{
	struct buf line = BUF_INIT;
	int fd = openat(b->dir_fd, TASK_FILE, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC,
			0600);
	int r = fd < 0 ? -errno : 0;

	buf_addf(&line, "%s: ", key);
	for (; *value; value++)
		buf_addc(&line, *value == '\n' ? '?' : *value);
	buf_addc(&line, '\n');
	if (!r)
		r = buf_error(&line);
	if (!r)
		r = file_write(fd, line.data, line.len);
	file_close(fd);
	buf_release(&line);
	return r;
}

int background_begin(struct background *b, const char *process, struct error *err)
{
	char path[PATH_MAX];
	unsigned *id = NULL;
	size_t n = 0;
	int place_fd = make_place(path, err), r;

	*b = (struct background){ .dir_fd = -1, .progress_fd = -1 };
	if (place_fd < 0)
		return place_fd;
	r = list_ids(&id, &n, place_fd);
	if (!r) {
		forget_old(place_fd, path, id, n);
		r = take_id(b, place_fd, n ? id[n - 1] : 0);
	}
	free(id);
	close(place_fd);
	if (!r)
		r = b->progress_fd = inspect_progress_begin(b->dir_fd);
	if (r >= 0)
		r = add_fact(b, "process", process);
	return r < 0 ? error_sys(err, r, path, "no task can be added") : 0;
}

void background_tell(const struct background *b, unsigned percent, const char *message)
{
	if (b->progress_fd >= 0)
		inspect_progress_add(b->progress_fd, percent, message);
}

void background_set_archive(struct background *b, const char *path)
{
	if (!b->id || !strcmp(path, b->archive))
		return;
	snprintf(b->archive, sizeof b->archive, "%s", path);
	add_fact(b, "archive", path);
}

void background_end(struct background *b, int status)
{
	char text[16];

	if (!b->id)
		return;
	snprintf(text, sizeof text, "%d", status);
	if (status >= 0)
		add_fact(b, "status", text);
	close(b->progress_fd);
	close(b->dir_fd);
	*b = (struct background){ .dir_fd = -1, .progress_fd = -1 };
}

void background_forget(struct background *b)
{
	char path[PATH_MAX], name[16];
	int place_fd = -1;

	snprintf(name, sizeof name, "%u", b->id);
	if (b->id && find_place(path, false, &place_fd) && place_fd >= 0) {
		remove_task(place_fd, name);
		close(place_fd);
		rmdir(path);
	}
	background_end(b, -1);
}

/* The tasks of others */

static void take_fact(struct background_task *t, struct slice line)
{
	static const char process[] = "process: ", archive[] = "archive: ", status[] = "status: ";
	int64_t n;

	if (slice_starts(line, process))
		snprintf(t->process, sizeof t->process, "%.*s", (int)(line.len - strlen(process)),
			 line.p + strlen(process));
	else if (slice_starts(line, archive))
		snprintf(t->archive, sizeof t->archive, "%.*s", (int)(line.len - strlen(archive)),
			 line.p + strlen(archive));
	else if (slice_starts(line, status) &&
		 cursor_slice_i64((struct slice){ line.p + strlen(status),
						  line.len - strlen(status) }, &n))
		t->status = (int)n;
}

static int read_facts(struct background_task *t, int place_fd)
{
	struct buf text = BUF_INIT;
	struct slice line;
	struct cursor c;
	bool complete;
	char name[32];
	int r;

	snprintf(name, sizeof name, "%u/" TASK_FILE, t->id);
	r = readfile_at(&text, place_fd, name, TASK_FILE_MAX);
	cursor_init(&c, text.len ? text.data : "", text.len);
	while (cursor_line(&c, &line, &complete)) {
		if (complete)
			take_fact(t, line);
	}
	buf_release(&text);
	return r == -EFBIG ? 0 : r;
}

int background_read(struct background_task *t, unsigned id, struct error *err)
{
	char path[PATH_MAX], dir[PATH_MAX + 16];
	int place_fd = -1, r = -ENOENT;

	*t = (struct background_task){ .id = id, .status = -1 };
	if (find_place(path, false, &place_fd) && place_fd >= 0) {
		r = read_facts(t, place_fd);
		close(place_fd);
	}
	if (r)
		return error_set(err, r, NULL, 0, 0, r == -ENOENT ? "there is no task %u; see: "
				 "buildbeat inspect status" : "task %u cannot be read", id);
	snprintf(dir, sizeof dir, "%s/%u", path, id);
	r = inspect_progress_read(&t->progress, dir, err);
	t->runs = !r && t->progress.runs;
	return r;
}

void background_release(struct background_task *t)
{
	inspect_progress_release(&t->progress);
}

int background_list(unsigned **id, size_t *n, struct error *err)
{
	char path[PATH_MAX];
	int place_fd, r;

	*id = NULL;
	*n = 0;
	if (!find_place(path, false, &place_fd) || place_fd < 0)
		return 0;
	r = list_ids(id, n, place_fd);
	close(place_fd);
	return r ? error_sys(err, r, path, NULL) : 0;
}

/* A descriptor of the process of a task that runs; -ESRCH: it has ended. */
static int open_process(unsigned id, struct error *err)
{
	struct background_task t;
	int fd = -ESRCH, r = background_read(&t, id, err);
	int pid = t.progress.pid;
	bool runs = !r && t.runs;

	background_release(&t);
	if (r)
		return r;
	if (!runs)
		return -ESRCH;
	fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (fd < 0)
		return errno == ESRCH ? -ESRCH : error_sys(err, -errno, NULL, "a task cannot be reached");
	/* that is still its number */
	r = background_read(&t, id, err);
	runs = !r && t.runs;
	background_release(&t);
	if (runs)
		return fd;
	close(fd);
	return r ? r : -ESRCH;
}

static bool has_ended(int fd, int timeout_ms)
{
	struct pollfd end = { .fd = fd, .events = POLLIN };
	int r;

	do
		r = poll(&end, 1, timeout_ms);
	while (r < 0 && errno == EINTR);
	return r != 0;
}

int background_wait(unsigned id, struct error *err)
{
	int fd = open_process(id, err);

	if (fd < 0)
		return fd == -ESRCH ? 0 : fd;
	has_ended(fd, -1);
	close(fd);
	return 0;
}

int background_cancel(unsigned id, struct error *err)
{
	int fd = open_process(id, err), r = 0;

	if (fd < 0)
		return fd == -ESRCH ? 0 : fd;
	if (syscall(SYS_pidfd_send_signal, fd, SIGTERM, NULL, 0) && errno != ESRCH)
		r = error_sys(err, -errno, NULL, "a task cannot be cancelled");
	if (!r && !has_ended(fd, CANCEL_MS))
		syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0);
	if (!r)
		has_ended(fd, CANCEL_MS);
	close(fd);
	return r;
}
