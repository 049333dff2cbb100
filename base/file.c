/* SPDX-License-Identifier: MIT */
#include "base/file.h"

#include "base/array.h"
#include "base/readfile.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

/* Above what hosts and jobservers number by hand, below 64: with a higher
 * descriptor a process pays about 2 us more for every child it starts. Its table of descriptors
 * is then no longer the small one that is part of the process. */
#define FD_FLOOR 40
#define FD_FLOOR_TIGHT 10

#define NFS_MAGIC 0x6969

/* Like openat(), except for the mode of a new file. */
static int open_or_make(int dir_fd, const char *name, int flags)
{
	struct stat dir;
	int fd = -1;

	if (!(flags & O_EXCL))
		fd = openat(dir_fd, name, flags & ~O_CREAT);
	if (fd >= 0 || !(flags & O_CREAT) || (!(flags & O_EXCL) && errno != ENOENT))
		return fd;
	fd = openat(dir_fd, name, flags | O_EXCL, 0600);
	if (fd < 0 && errno == EEXIST && !(flags & O_EXCL))
		return openat(dir_fd, name, flags & ~O_CREAT);
	if (fd >= 0 && !fstat(dir_fd, &dir))
		fchmod(fd, dir.st_mode & 0666);
	return fd;
}

bool file_is_nfs(int fd)
{
	struct statfs fs;

	return !fstatfs(fd, &fs) && fs.f_type == NFS_MAGIC;
}

int file_copy(int fd)
{
	static const int floors[] = { FD_FLOOR, FD_FLOOR_TIGHT, STDERR_FILENO + 1 };
	int copy = -1;

	for (size_t i = 0; i < ARRAY_SIZE(floors) && copy < 0; i++)
		copy = fcntl(fd, F_DUPFD_CLOEXEC, floors[i]);
	return copy < 0 ? -errno : copy;
}

int file_move_up(int fd)
{
	int moved;

	if (fd < 0 || fd >= FD_FLOOR)
		return fd;
	moved = file_copy(fd);
	if (moved < 0)
		return fd;
	close(fd);
	return moved;
}

int file_open_at(int dir_fd, const char *name, int flags)
{
	int fd = open_or_make(dir_fd, name, flags | O_CLOEXEC);

	return fd < 0 ? -errno : file_move_up(fd);
}

bool file_has_size_limit(void)
{
	struct rlimit limit;

	return !getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur != RLIM_INFINITY;
}

ssize_t file_write_quietly(int fd, const void *p, size_t len)
{
	static const struct timespec at_once;
	sigset_t held, before, pending;
	ssize_t n;
	int sig, saved;

	sigemptyset(&held);
	sigaddset(&held, SIGXFSZ);
	sigaddset(&held, SIGPIPE);
	sigpending(&pending);
	pthread_sigmask(SIG_BLOCK, &held, &before);
	n = write(fd, p, len);
	saved = errno;
	sig = n >= 0 ? 0 : saved == EFBIG ? SIGXFSZ : saved == EPIPE ? SIGPIPE : 0;
	if (sig && !sigismember(&pending, sig)) {
		sigemptyset(&held);
		sigaddset(&held, sig);
		sigtimedwait(&held, NULL, &at_once);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = saved;
	return n;
}

DIR *file_open_dir_at(int dir_fd, const char *name)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	int e = errno;

	if (!dir && fd >= 0)
		close(fd);
	errno = e;
	return dir;
}

int file_write(int fd, const void *p, size_t len)
{
	ssize_t n;

	do {
		n = file_write_quietly(fd, p, len);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	if ((size_t)n == len)
		return 0;
	return file_has_size_limit() ? -EFBIG : -ENOSPC;
}

int file_write_all(int fd, const void *p, size_t len)
{
	for (const char *at = p; len;) {
		ssize_t n = file_write_quietly(fd, at, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -ENOSPC;
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

int file_write_and_close(int fd, const void *p, size_t len)
{
	int r = file_write_all(fd, p, len);

	return close(fd) && !r ? -errno : r;
}

mode_t file_umask(void)
{
	static const char key[] = "\nUmask:";
	char text[4096];
	ssize_t n = readfile_start(AT_FDCWD, "/proc/self/status", text, sizeof text);
	const char *at = n > 0 ? strstr(text, key) : NULL;

	return at ? (mode_t)strtoul(at + strlen(key), NULL, 8) & 0777 : 077;
}

int file_make_parents(const char *path, struct error *err)
{
	char part[PATH_MAX];

	for (const char *p = *path ? strchr(path + 1, '/') : NULL; p; p = strchr(p + 1, '/')) {
		memcpy(part, path, (size_t)(p - path));
		part[p - path] = '\0';
		if (mkdir(part, 0775) && errno != EEXIST)
			return error_sys(err, -errno, part, "cannot make the directory");
	}
	return 0;
}

int file_absolute(char out[PATH_MAX], const char *path)
{
	char cwd[PATH_MAX];
	int n;

	if (*path == '/')
		n = snprintf(out, PATH_MAX, "%s", path);
	else if (!getcwd(cwd, sizeof cwd))
		return -errno;
	else
		n = snprintf(out, PATH_MAX, "%s/%s", strcmp(cwd, "/") ? cwd : "", path);
	return n < PATH_MAX - 256 ? 0 : -ENAMETOOLONG;
}

/* dir/name */
static bool join_path(char out[PATH_MAX], const char *dir, size_t dir_len, const char *name)
{
	size_t len = strlen(name), before = dir_len ? dir_len + 1 : 0;

	if (before + len >= PATH_MAX)
		return false;
	memcpy(out, dir, dir_len);
	out[dir_len] = '/';
	memcpy(out + before, name, len + 1);
	return true;
}

bool file_find_program(char out[PATH_MAX], const char *name)
{
	const char *dirs = getenv("PATH");

	if (strchr(name, '/'))
		return join_path(out, "", 0, name);
	if (!dirs)
		dirs = "/bin:/usr/bin";
	for (;; dirs++) {
		size_t n = strcspn(dirs, ":");

		if (join_path(out, dirs, n, name) && !access(out, X_OK))
			return true;
		dirs += n;
		if (!*dirs)
			return false;
	}
}

/* Our part of the directory that a variable names; without it, of one in the home. */
static int add_user_dir(struct buf *path, const char *variable, const char *in_home)
{
	const char *dir = getenv(variable), *home = getenv("HOME");

	if (dir && *dir == '/')
		buf_adds(path, dir);
	else if (home && *home == '/')
		buf_addf(path, "%s/%s", home, in_home);
	else
		return -ENOENT;
	buf_adds(path, "/buildbeat");
	return 0;
}

int file_add_cache_dir(struct buf *path)
{
	return add_user_dir(path, "XDG_CACHE_HOME", ".cache");
}

int file_add_state_dir(struct buf *path)
{
	return add_user_dir(path, "XDG_STATE_HOME", ".local/state");
}
