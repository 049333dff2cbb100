#include "gunzip.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define WINDOW 131072

struct gunzip {
	gzFile file;
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

	if (n > 0)
		return n;
	gzerror(g->file, &code);
	g->torn = code == Z_BUF_ERROR;
	return code == Z_OK || g->torn ? 0 : failed(g, code, err);
}

bool gunzip_torn(const struct gunzip *g)
{
	return g->torn;
}
