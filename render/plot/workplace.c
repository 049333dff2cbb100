/* SPDX-License-Identifier: MIT */
#include "render/plot/workplace.h"

#include "base/trust.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int workplace_begin(struct workplace *w, struct error *err)
{
	const char *base = getenv("TMPDIR");
	int n;

	if (!base || !*base)
		base = "/tmp";
	*w->path = '\0';
	/* gnuplot does there what the script says */
	n = trust_path(base, err);
	if (n)
		return n;
	n = snprintf(w->path, sizeof w->path, "%s/buildbeat-plot-XXXXXX", base);
	if (n >= (int)sizeof w->path) {
		*w->path = '\0';
		return error_sys(err, -ENAMETOOLONG, base, NULL);
	}
	if (!mkdtemp(w->path)) {
		n = -errno;
		error_sys(err, n, w->path, "cannot make a directory to work in");
		*w->path = '\0';
		return n;
	}
	return 0;
}

/* gnuplot and what it runs on make files only, no directories. */
void workplace_end(struct workplace *w)
{
	DIR *dir = *w->path ? opendir(w->path) : NULL;
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
	if (*w->path)
		rmdir(w->path);
	*w->path = '\0';
}

static int read_all(struct buf *out, int fd)
{
	for (;;) {
		ssize_t n;

		if (buf_reserve(out, 65536))
			return buf_error(out);
		n = read(fd, out->data + out->len, 65536);
		if (n == 0)
			return 0;
		if (n > 0)
			buf_cut(out, out->len + (size_t)n);
		else if (errno != EINTR)
			return -errno;
	}
}

int workplace_read(struct buf *out, const char *directory, const char *name)
{
	char path[PATH_MAX];
	int fd, r;

	if (snprintf(path, sizeof path, "%s/%s", directory, name) >= (int)sizeof path)
		return -ENAMETOOLONG;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = read_all(out, fd);
	close(fd);
	return r;
}
