/* SPDX-License-Identifier: MIT */
#include "live/registry.h"

#include "base/array.h"
#include "base/buf.h"
#include "base/cursor.h"
#include "base/file.h"
#include "base/private_dir.h"
#include "base/readfile.h"
#include "base/str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PLACE "buildbeat-serve"
#define FILE_MAX (4 * PATH_MAX)
#define STOP_MS 10000

static void add_line(struct buf *b, const char *key, const char *value)
{
	buf_addf(b, "%s: ", key);
	for (; *value; value++)
		buf_addc(b, *value == '\n' ? '?' : *value);
	buf_addc(b, '\n');
}

static void name_of(char name[24], int32_t pid)
{
	snprintf(name, 24, "%d", (int)pid);
}

int registry_add(const char *path, const char *url, struct error *err)
{
	struct buf text = BUF_INIT;
	char place[PATH_MAX], name[24], hidden[32];
	int place_fd = -1, fd = -1, r;

	if (!private_dir_find(place, PLACE, true, &place_fd) || place_fd < 0)
		return error_say(err, -EPERM, "no private directory in XDG_RUNTIME_DIR, TMPDIR, "
				 "/tmp or ~/.local/state for the list of servers");
	name_of(name, (int32_t)getpid());
	add_line(&text, "path", path);
	add_line(&text, "url", url);
	/* nobody sees it before it is locked */
	snprintf(hidden, sizeof hidden, ".%s", name);
	unlinkat(place_fd, hidden, 0);
	fd = openat(place_fd, hidden, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	r = fd < 0 || flock(fd, LOCK_EX | LOCK_NB) ? -errno : buf_error(&text);
	if (!r)
		r = file_write(fd, text.data, text.len);
	if (!r && renameat(place_fd, hidden, place_fd, name))
		r = -errno;
	buf_release(&text);
	if (r && fd >= 0) {
		unlinkat(place_fd, hidden, 0);
		close(fd);
	}
	close(place_fd);
	if (!r)
		return fd;
	return error_sys(err, r, place, "the server cannot be listed");
}

void registry_remove(int fd)
{
	char place[PATH_MAX], name[24];
	int place_fd = -1;

	if (fd < 0)
		return;
	name_of(name, (int32_t)getpid());
	if (private_dir_find(place, PLACE, false, &place_fd) && place_fd >= 0) {
		unlinkat(place_fd, name, 0);
		close(place_fd);
		rmdir(place);
	}
	close(fd);
}

void registry_leave(int fd)
{
	file_write(fd, "left: 1\n", 8);
}

static void take_line(struct registry_entry *e, struct slice line)
{
	static const char path[] = "path: ", url[] = "url: ";

	if (slice_starts(line, path))
		snprintf(e->path, sizeof e->path, "%.*s", (int)(line.len - strlen(path)),
			 line.p + strlen(path));
	else if (slice_starts(line, url))
		snprintf(e->url, sizeof e->url, "%.*s", (int)(line.len - strlen(url)),
			 line.p + strlen(url));
	else if (slice_starts(line, "left: "))
		e->left = true;
}

/* False: the server has ended, or is just beginning. */
static bool read_entry(struct registry_entry *e, int place_fd, const char *name)
{
	struct buf text = BUF_INIT;
	struct slice line;
	struct cursor c;
	bool complete;
	int fd = openat(place_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return false;
	if (!flock(fd, LOCK_SH | LOCK_NB)) {
		unlinkat(place_fd, name, 0);
		close(fd);
		return false;
	}
	close(fd);
	if (readfile_at(&text, place_fd, name, FILE_MAX)) {
		buf_release(&text);
		return false;
	}
	cursor_init(&c, text.len ? text.data : "", text.len);
	while (cursor_line(&c, &line, &complete)) {
		if (complete)
			take_line(e, line);
	}
	buf_release(&text);
	return *e->path && *e->url;
}

static int by_pid(const void *a, const void *b)
{
	const struct registry_entry *x = a, *y = b;

	return array_order(x->pid, y->pid);
}

static int add_entry(struct registry_entry **entry, size_t *n, int place_fd, const char *name)
{
	struct registry_entry e = { 0 }, *to;
	uint64_t pid;

	if (!cursor_slice_u64(slice_of(name), &pid) || !pid || pid > INT32_MAX)
		return 0;
	e.pid = (int32_t)pid;
	if (!read_entry(&e, place_fd, name))
		return 0;
	to = array_add(entry, n, sizeof *to);
	if (!to)
		return -ENOMEM;
	*to = e;
	return 0;
}

int registry_list(struct registry_entry **entry, size_t *n)
{
	char place[PATH_MAX];
	struct dirent *file;
	int place_fd = -1, r = 0;
	DIR *dir;

	*entry = NULL;
	*n = 0;
	if (!private_dir_find(place, PLACE, false, &place_fd) || place_fd < 0)
		return 0;
	dir = file_open_dir_at(place_fd, ".");
	while (!r && dir && (file = readdir(dir)))
		r = add_entry(entry, n, place_fd, file->d_name);
	if (dir)
		closedir(dir);
	close(place_fd);
	if (*n)
		qsort(*entry, *n, sizeof **entry, by_pid);
	return r;
}

/* Is the file of this process still held? */
static bool runs(const struct registry_entry *e)
{
	struct registry_entry now = { 0 };
	char place[PATH_MAX], name[24];
	int place_fd = -1;
	bool same = false;

	name_of(name, e->pid);
	if (private_dir_find(place, PLACE, false, &place_fd) && place_fd >= 0) {
		same = read_entry(&now, place_fd, name) && !strcmp(now.url, e->url);
		close(place_fd);
	}
	return same;
}

int registry_stop(const struct registry_entry *e)
{
	int fd = (int)syscall(SYS_pidfd_open, e->pid, 0);
	struct pollfd end = { .fd = fd, .events = POLLIN };
	int r = fd < 0 ? errno : 0;

	if (r)
		return r == ESRCH ? 0 : -r;
	if (runs(e)) {
		if (syscall(SYS_pidfd_send_signal, fd, SIGTERM, NULL, 0) && errno != ESRCH)
			r = -errno;
		else if (!poll(&end, 1, STOP_MS))
			syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0);
		if (!r)
			poll(&end, 1, STOP_MS);
	}
	close(fd);
	return r;
}
