/* SPDX-License-Identifier: MIT */
#include "base/file.h"
#include "base/minmax.h"
#include "base/readfile.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNK 65536

ssize_t readfile_some(int fd, void *to, size_t len)
{
	size_t got = 0;
	ssize_t n = 1;

	while (got < len && n) {
		n = read(fd, (char *)to + got, len - got);
		if (n < 0 && errno != EINTR)
			return -errno;
		got += n > 0 ? (size_t)n : 0;
	}
	return (ssize_t)got;
}

ssize_t readfile_some_at(int fd, void *to, size_t len, off_t offset)
{
	size_t got = 0;
	ssize_t n = 1;

	while (got < len && n) {
		n = pread(fd, (char *)to + got, len - got, offset + (off_t)got);
		if (n < 0 && errno != EINTR)
			return -errno;
		got += n > 0 ? (size_t)n : 0;
	}
	return (ssize_t)got;
}

int readfile_fd(struct buf *out, int fd, size_t max)
{
	size_t first = out->len, len = CHUNK;

	while (!buf_reserve(out, CHUNK)) {
		ssize_t n;

		/* One byte more than allowed shows that there is more. */
		if (len > max - (out->len - first))
			len = max - (out->len - first) + 1;
		n = readfile_some(fd, out->data + out->len, len);
		if (n < 0)
			return (int)n;
		buf_cut(out, out->len + (size_t)n);
		if (out->len - first > max) {
			buf_cut(out, first + max);
			return -EFBIG;
		}
		if ((size_t)n < len)
			return 0;
	}
	return buf_error(out);
}

int readfile_open(int dir_fd, const char *name)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
	struct stat st;
	int r;

	if (fd < 0 && errno == ELOOP)
		return faccessat(dir_fd, name, F_OK, 0) && errno == ENOENT ? -ENOENT : -ELOOP;
	if (fd < 0)
		return -errno;
	r = fstat(fd, &st) ? -errno : S_ISREG(st.st_mode) ? 0 : S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
	if (!r)
		return fd;
	close(fd);
	return r;
}

int readfile_at(struct buf *out, int dir_fd, const char *path, size_t max)
{
	int fd = dir_fd == AT_FDCWD ? open(path, O_RDONLY | O_CLOEXEC) : readfile_open(dir_fd, path), r;

	if (fd < 0)
		return dir_fd == AT_FDCWD ? -errno : fd;
	r = readfile_fd(out, fd, max);
	close(fd);
	return r;
}

ssize_t readfile_start(int dir_fd, const char *path, char *text, size_t size)
{
	int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	ssize_t n = fd < 0 ? -errno : readfile_some(fd, text, size - 1);

	file_close(fd);
	text[MAX(n, 0)] = '\0';
	return n;
}

ssize_t readfile_line(int dir_fd, const char *path, char *text, size_t size)
{
	ssize_t n = readfile_start(dir_fd, path, text, size);

	text[strcspn(text, "\n")] = '\0';
	return n < 0 ? n : (ssize_t)strlen(text);
}
