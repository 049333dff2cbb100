/* SPDX-License-Identifier: MIT */
#include "render/plot/workplace.h"

#include "base/readfile.h"
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

int workplace_read(struct buf *out, const char *directory, const char *name)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof path, "%s/%s", directory, name) >= (int)sizeof path)
		return -ENAMETOOLONG;
	return readfile_at(out, AT_FDCWD, path, SIZE_MAX);
}
