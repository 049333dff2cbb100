/* SPDX-License-Identifier: MIT */
/*
 * Preloaded into programs. In each process, writes into the file named FAIL_FILE fail with the error
 * FAIL_ERROR (a number) after the first FAIL_AFTER ones. The first FAIL_ACCEPTS connections are
 * not accepted, with the same error.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_int writes, accepts;

static bool is_file(int fd)
{
	const char *name = getenv("FAIL_FILE");
	char link[64], path[4096];
	size_t len = name ? strlen(name) : 0;
	ssize_t n;

	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	n = len ? readlink(link, path, sizeof path) : -1;
	return n > (ssize_t)len && path[n - (ssize_t)len - 1] == '/' &&
	       !memcmp(path + n - len, name, len);
}

static bool write_fails(int fd)
{
	const char *after = getenv("FAIL_AFTER"), *error = getenv("FAIL_ERROR");
	int saved = errno;
	bool fails = is_file(fd) && after && error && atomic_fetch_add(&writes, 1) >= atoi(after);

	errno = fails ? atoi(error) : saved;
	return fails;
}

ssize_t write(int fd, const void *from, size_t n)
{
	ssize_t (*next)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");

	return write_fails(fd) ? -1 : next(fd, from, n);
}

ssize_t writev(int fd, const struct iovec *part, int n)
{
	ssize_t (*next)(int, const struct iovec *, int) = dlsym(RTLD_NEXT, "writev");

	return write_fails(fd) ? -1 : next(fd, part, n);
}

int accept4(int fd, struct sockaddr *address, socklen_t *len, int flags)
{
	int (*next)(int, struct sockaddr *, socklen_t *, int) = dlsym(RTLD_NEXT, "accept4");
	const char *first = getenv("FAIL_ACCEPTS"), *error = getenv("FAIL_ERROR");

	if (first && error && atomic_fetch_add(&accepts, 1) < atoi(first)) {
		errno = atoi(error);
		return -1;
	}
	return next(fd, address, len, flags);
}
