/* SPDX-License-Identifier: MIT */
/*
 * Preloaded into a program: every third read() and write() of a file or pipe fails with
 * EINTR, and the others transfer a part only. Appends are whole, because programs share such
 * files by lines of one write().
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define PART_MAX 997

static atomic_uint calls;

/* Files of /proc have no size and must be read at once, because they change. */
static bool is_file(int fd, bool reading)
{
	struct stat st;

	return !fstat(fd, &st) && (S_ISFIFO(st.st_mode) ||
				   (S_ISREG(st.st_mode) && (!reading || st.st_size)));
}

/* False: interrupted. */
static bool shorten(size_t *n, bool whole)
{
	unsigned call = calls++;
	size_t part = 1 + call * 7919u % PART_MAX;

	if (call % 3 == 0) {
		errno = EINTR;
		return false;
	}
	if (!whole && *n > part)
		*n = part;
	return true;
}

static void *real(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

ssize_t read(int fd, void *to, size_t n)
{
	ssize_t (*next)(int, void *, size_t) = real("read");

	return is_file(fd, true) && !shorten(&n, false) ? -1 : next(fd, to, n);
}

ssize_t pread(int fd, void *to, size_t n, off_t at)
{
	ssize_t (*next)(int, void *, size_t, off_t) = real("pread");

	return is_file(fd, true) && !shorten(&n, false) ? -1 : next(fd, to, n, at);
}

ssize_t write(int fd, const void *from, size_t n)
{
	ssize_t (*next)(int, const void *, size_t) = real("write");
	bool whole = fcntl(fd, F_GETFL) & O_APPEND;

	return is_file(fd, false) && !shorten(&n, whole) ? -1 : next(fd, from, n);
}

/* A part of the first piece. */
ssize_t writev(int fd, const struct iovec *piece, int n)
{
	return n > 0 ? write(fd, piece->iov_base, piece->iov_len) : 0;
}
