/* SPDX-License-Identifier: MIT */
#include "convert/gunzip.h"

#include "base/minmax.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define GZIP_ONLY 16		/* of zlib: the format, added to the size of the window */
#define READ_MAX ((size_t)1 << 30)

#define UNPACK_FREE (UINT64_C(64) << 20)
#define UNPACK_RATIO 32
#define UNPACK_MAX (UINT64_C(1) << 30)

static uint64_t limit;		/* 0: by the size of the file */

struct gunzip {
	int fd;
	enum { AT_START, PLAIN, PACKED, AT_END } state;
	bool truncated;
	z_stream z;		/* next_in and avail_in: what of in is not used yet */
	uint64_t taken;		/* bytes read from fd */
	uint64_t done;		/* bytes unpacked */
	unsigned char in[131072];
	char path[];
};

/* open() accepts a directory; its first read() does not. */
static int open_regular(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && S_ISDIR(st.st_mode)) {
		close(fd);
		return -EISDIR;
	}
	return fd;
}

struct gunzip *gunzip_open(const char *path, int *error, struct error *err)
{
	struct gunzip *g = malloc(sizeof *g + strlen(path) + 1);
	int fd = g ? open_regular(path) : -ENOMEM;

	if (fd < 0) {
		free(g);
		*error = error_sys(err, fd, path, "cannot open");
		return NULL;
	}
	g->fd = fd;
	g->state = AT_START;
	g->truncated = false;
	g->z = (z_stream){ .next_in = g->in };
	g->taken = g->done = 0;
	strcpy(g->path, path);
	return g;
}

void gunzip_close(struct gunzip *g)
{
	if (!g)
		return;
	inflateEnd(&g->z);
	close(g->fd);
	free(g);
}

void gunzip_set_limit(uint64_t bytes)
{
	limit = bytes;
}

/* By what was read of the file up to now: a pipe has no size. */
static uint64_t allowed(const struct gunzip *g)
{
	uint64_t most = (g->taken - g->z.avail_in) * UNPACK_RATIO;

	if (limit)
		return limit;
	if (most < UNPACK_FREE)
		return UNPACK_FREE;
	return MIN(most, UNPACK_MAX);
}

static ssize_t read_file(struct gunzip *g, void *to, size_t size, struct error *err)
{
	ssize_t n;

	do {
		n = read(g->fd, to, size);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return error_sys(err, -errno, g->path, "cannot read");
	g->taken += (uint64_t)n;
	return n;
}

/* More of the file behind what is not used yet. 0: its end. */
static ssize_t refill(struct gunzip *g, struct error *err)
{
	ssize_t n;

	memmove(g->in, g->z.next_in, g->z.avail_in);
	g->z.next_in = g->in;
	n = read_file(g, g->in + g->z.avail_in, sizeof g->in - g->z.avail_in, err);
	g->z.avail_in += n > 0 ? (unsigned)n : 0;
	return n;
}

/* At the start of the file, or behind a member of gzip: padding that follows is ignored. */
static int recognise(struct gunzip *g, struct error *err)
{
	ssize_t n = 1;
	int r = Z_OK;

	while (g->z.avail_in < 2 && n > 0)
		n = refill(g, err);
	if (n < 0)
		return (int)n;
	if (g->z.avail_in < 2 || g->z.next_in[0] != 0x1f || g->z.next_in[1] != 0x8b) {
		g->state = g->state == AT_START ? PLAIN : AT_END;
		return 0;
	}
	if (g->state == AT_START)
		r = inflateInit2(&g->z, GZIP_ONLY + MAX_WBITS);
	else
		inflateReset(&g->z);
	g->state = PACKED;
	return r == Z_OK ? 0 : error_sys(err, -ENOMEM, g->path, "cannot read");
}

static ssize_t copy(struct gunzip *g, char *to, size_t size, struct error *err)
{
	size_t len = MIN(g->z.avail_in, size);
	ssize_t n = 1;

	memcpy(to, g->z.next_in, len);
	g->z.next_in += len;
	g->z.avail_in -= (unsigned)len;
	while (len < size && n > 0) {
		n = read_file(g, to + len, size - len, err);
		len += n > 0 ? (size_t)n : 0;
	}
	return n < 0 ? n : (ssize_t)len;
}

static ssize_t unpack(struct gunzip *g, void *to, size_t size, struct error *err)
{
	g->z.next_out = to;
	g->z.avail_out = (unsigned)size;
	while (g->z.avail_out && g->state == PACKED) {
		ssize_t n = g->z.avail_in ? 1 : refill(g, err);
		int r;

		if (n < 0)
			return n;
		if (!n) {
			g->truncated = true;
			g->state = AT_END;
			break;
		}
		r = inflate(&g->z, Z_NO_FLUSH);
		if (r == Z_STREAM_END) {
			r = recognise(g, err);
			if (r)
				return r;
		} else if (r == Z_MEM_ERROR) {
			return error_sys(err, -ENOMEM, g->path, "cannot read");
		} else if (r != Z_OK) {
			return error_set(err, -EINVAL, g->path, 0, 0, "damaged gzip data");
		}
	}
	size -= g->z.avail_out;
	g->done += size;
	if (g->done <= allowed(g))
		return (ssize_t)size;
	return error_set(err, -EFBIG, g->path, 0, 0, "unpacks to more than %llu MiB; if you trust "
			 "the file, import it with a larger --import-limit",
			 (unsigned long long)(allowed(g) >> 20));
}

ssize_t gunzip_read(struct gunzip *g, void *to, size_t size, struct error *err)
{
	int r = g->state == AT_START ? recognise(g, err) : 0;

	if (size > READ_MAX)
		size = READ_MAX;
	if (r || g->state == AT_END)
		return r;
	return g->state == PLAIN ? copy(g, to, size, err) : unpack(g, to, size, err);
}

bool gunzip_truncated(const struct gunzip *g)
{
	return g->truncated;
}
