/* SPDX-License-Identifier: MIT */
#include "archive/ref_lock.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/readfile.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define NAP_NS 2000000
#define NS_PER_S 1000000000
#define OLD_NS (600 * (int64_t)NS_PER_S)
/* git keeps a lock for milliseconds: one with this age is not git's, made after our owner died. */
#define LEFT_NS NS_PER_S
#define FDS_MAX 16

static bool full_path(char path[PATH_MAX], const struct archive *a, const char *name,
		      const char *end)
{
	int n = snprintf(path, PATH_MAX, "%s%s%s", git_repository_commondir(a->git), name, end);

	return n > 0 && n < PATH_MAX;
}

/* A different pause for each process. */
static void nap(void)
{
	nanosleep(&(struct timespec){ 0, NAP_NS + getpid() % 1000 * 1000 }, NULL);
}

static int64_t age_ns(const struct stat *st)
{
	return clock_wall_ns() - (st->st_mtim.tv_sec * (int64_t)NS_PER_S + st->st_mtim.tv_nsec);
}

/* A file that others may have linked to another place is not written to. */
static int open_lock(const struct archive *a, const char *file)
{
	char path[PATH_MAX];
	struct stat st;
	int fd;

	if (!full_path(path, a, file, ""))
		return -ENAMETOOLONG;
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
	if (fd < 0)
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_nlink == 1)
		return fd;
	close(fd);
	return -EINVAL;
}

/* The note has names, and can have any text if the repository is a stranger's. */
static bool is_lock_name(const char *name)
{
	return !strcmp(name, REF_LOCK_PACKED) ||
	       (!strncmp(name, "refs/", strlen("refs/")) && git_reference_is_valid_name(name));
}

static void remove_left(const char *path)
{
	struct stat st;

	while (!lstat(path, &st) && S_ISREG(st.st_mode)) {
		int64_t age = age_ns(&st);

		if (age < 0 || age >= LEFT_NS) {
			unlink(path);
			return;
		}
		nap();
	}
}

static int remove_each(const char *path, const struct stat *st, int type, struct FTW *at)
{
	size_t n = strlen(path), end = strlen(".lock");

	(void)st;
	(void)at;
	if (type == FTW_F && n > end && !strcmp(path + n - end, ".lock"))
		unlink(path);
	return 0;
}

/* Nobody else writes to a copy: nothing there is git's. */
static void remove_all(const struct archive *a)
{
	char path[PATH_MAX];

	if (full_path(path, a, "refs", ""))
		nftw(path, remove_each, FDS_MAX, FTW_PHYS);
	if (full_path(path, a, REF_LOCK_PACKED, ".lock"))
		unlink(path);
}

static void remove_noted(const struct archive *a, struct buf *note)
{
	char path[PATH_MAX], *rest = note->data, *name;

	while ((name = strsep(&rest, "\n"))) {
		if (!strcmp(name, REF_LOCK_ALL))
			remove_all(a);
		else if (is_lock_name(name) && full_path(path, a, name, ".lock"))
			remove_left(path);
	}
}

static void read_note(struct buf *note, int fd)
{
	char text[PATH_MAX];
	ssize_t n = pread(fd, text, sizeof text, 0);

	if (n > 0)
		buf_add(note, text, strnlen(text, (size_t)n));
	if (buf_error(note))
		buf_clear(note);
}

/* Not possible if the file is only readable. */
static void write_note(int fd, const char *names)
{
	if (!ftruncate(fd, 0) && pwrite(fd, names, strlen(names), 0) < 0)
		return;
}

static int lock(int fd, unsigned wait_s)
{
	int64_t until_ns = clock_mono_ns() + (int64_t)wait_s * NS_PER_S;

	while (flock(fd, LOCK_EX | LOCK_NB)) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return -errno;
		if (clock_mono_ns() >= until_ns)
			return -EBUSY;
		nap();
	}
	return 0;
}

int ref_lock_take(struct ref_lock *l, const struct archive *a, const char *file,
		  const char *names, unsigned wait_s)
{
	struct buf note = BUF_INIT;
	int fd = open_lock(a, file), r;

	l->fd = -1;
	if (fd < 0)
		return fd;
	r = lock(fd, wait_s);
	if (r) {
		close(fd);
		return r;
	}
	read_note(&note, fd);
	if (note.len)
		remove_noted(a, &note);
	buf_release(&note);
	write_note(fd, names);
	l->fd = fd;
	return 0;
}

void ref_lock_release(struct ref_lock *l)
{
	if (l->fd < 0)
		return;
	write_note(l->fd, "");
	close(l->fd);
	l->fd = -1;
}

int64_t ref_lock_remove_old(const struct archive *a, const char *name)
{
	char path[PATH_MAX];
	struct stat st;

	if (!full_path(path, a, name, ".lock") || lstat(path, &st) || !S_ISREG(st.st_mode))
		return 0;
	return age_ns(&st) > OLD_NS && !unlink(path) ? 0 : age_ns(&st) / NS_PER_S;
}

void ref_lock_note(struct buf *names, const struct archive *a)
{
	char path[PATH_MAX];
	int fd = full_path(path, a, REF_LOCK, "") ?
		 open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;

	if (fd >= 0 && !flock(fd, LOCK_EX | LOCK_NB))
		read_note(names, fd);
	file_close(fd);
}
