/* SPDX-License-Identifier: MIT */
#include "convert/gunzip.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define WINDOW 131072

#define UNPACK_FREE (UINT64_C(64) << 20)
#define UNPACK_RATIO 32
#define UNPACK_MAX (UINT64_C(1) << 30)

static uint64_t limit;		/* 0: by the size of the file */

struct gunzip {
	gzFile file;
	uint64_t done;		/* bytes unpacked */
	bool torn;
	char path[];
};

/* A directory opens like a file and is told at the first read only. */
static int open_file(const char *path)
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
	int fd = g ? open_file(path) : -ENOMEM;

	if (fd >= 0) {
		strcpy(g->path, path);
		g->torn = false;
		g->done = 0;
		g->file = gzdopen(fd, "rb");
		if (g->file) {
			gzbuffer(g->file, WINDOW);
			return g;
		}
		close(fd);
		fd = -ENOMEM;
	}
	free(g);
	*error = error_sys(err, fd, path, "cannot open");
	return NULL;
}

void gunzip_close(struct gunzip *g)
{
	if (!g)
		return;
	gzclose_r(g->file);
	free(g);
}

void gunzip_set_limit(uint64_t bytes)
{
	limit = bytes;
}

/* By what was read of the file up to now: a pipe has no size. */
static uint64_t allowed(struct gunzip *g)
{
	uint64_t packed = (uint64_t)gzoffset(g->file), most = packed * UNPACK_RATIO;

	if (limit)
		return limit;
	if (most < UNPACK_FREE)
		return UNPACK_FREE;
	return most < UNPACK_MAX ? most : UNPACK_MAX;
}

static int too_much(struct gunzip *g, struct error *err)
{
	return error_set(err, -EFBIG, g->path, 0, 0, "unpacks to more than %llu MiB; if you trust "
			 "the file, import it with a larger --import-limit",
			 (unsigned long long)(allowed(g) >> 20));
}

static int failed(struct gunzip *g, int code, struct error *err)
{
	switch (code) {
	case Z_ERRNO:
		return error_sys(err, errno ? -errno : -EIO, g->path, "cannot read");
	case Z_MEM_ERROR:
		return error_sys(err, -ENOMEM, g->path, "cannot read");
	default:
		return error_set(err, -EINVAL, g->path, 0, 0, "damaged gzip data");
	}
}

ssize_t gunzip_read(struct gunzip *g, void *to, size_t size, struct error *err)
{
	int n = gzread(g->file, to, (unsigned)(size < 1 << 30 ? size : 1 << 30)), code = Z_OK;

	if (n > 0) {
		g->done += (uint64_t)n;
		return gzdirect(g->file) || g->done <= allowed(g) ? n : too_much(g, err);
	}
	gzerror(g->file, &code);
	g->torn = code == Z_BUF_ERROR;
	return code == Z_OK || g->torn ? 0 : failed(g, code, err);
}

bool gunzip_torn(const struct gunzip *g)
{
	return g->torn;
}
