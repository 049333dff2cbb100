/* SPDX-License-Identifier: MIT */
#include "base/outdir.h"

#include "base/file.h"
#include "base/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FDS_MAX 16
#ifndef RENAME_NOREPLACE	/* musl before 1.2.6 */
#define RENAME_NOREPLACE 1
#endif

/* If others can replace the directory, we would write to one of theirs. */
static int check_parent(const char *path, const char *name, struct error *err)
{
	char parent[PATH_MAX];

	snprintf(parent, sizeof parent, "%.*s", (int)(name - path), path);
	return trust_path(*parent ? parent : ".", err);
}

int outdir_begin(char dir[PATH_MAX], const char *path, struct error *err)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	int n = snprintf(dir, PATH_MAX, "%.*s.%s.XXXXXX", (int)(name - path), path, name);
	int r = n < PATH_MAX ? check_parent(path, name, err) :
		error_sys(err, -ENAMETOOLONG, path, NULL);

	if (r)
		return r;
	r = file_make_parents(path, err);
	if (r)
		return r;
	return mkdtemp(dir) ? 0 : error_sys(err, -errno, path, "cannot write");
}

int outdir_rename(const char *from, const char *to)
{
	struct stat st;

	if (!syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	if (!lstat(to, &st))
		return -EEXIST;
	return rename(from, to) ? -errno : 0;
}

int outdir_finish(const char *dir, const char *path, mode_t mode)
{
	if (chmod(dir, mode ? mode : 0777 & ~file_umask()))
		return -errno;
	return outdir_rename(dir, path);
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	remove(path);
	return 0;
}

void outdir_discard(const char *dir)
{
	nftw(dir, remove_entry, FDS_MAX, FTW_DEPTH | FTW_PHYS);
}
