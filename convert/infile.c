/* SPDX-License-Identifier: MIT */
#include "convert/infile.h"

#include "base/readfile.h"
#include "base/trust.h"
#include "convert/gunzip.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define STEP 65536

static int read_all(struct buf *out, struct gunzip *g, const char *path, struct error *err)
{
	ssize_t n;

	do {
		if (out->len > INFILE_MAX)
			return error_sys(err, -EFBIG, path, NULL);
		if (buf_reserve(out, STEP))
			return error_sys(err, buf_error(out), path, NULL);
		n = gunzip_read(g, out->data + out->len, STEP, err);
		if (n < 0)
			return (int)n;
		out->len += (size_t)n;
	} while (n);
	out->data[out->len] = '\0';
	return !gunzip_truncated(g) ? 0 :
	       error_set(err, -EINVAL, path, 0, 0, "the compressed data is truncated");
}

int infile_read(struct buf *out, const char *path, struct error *err)
{
	struct gunzip *g;
	struct stat st;
	char *fit;
	int r = 0;

	/* The file may be named by another file, and a device has no end. */
	if (!stat(path, &st) && (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode)))
		return error_set(err, -EINVAL, path, 0, 0, "a device, not a file");
	g = gunzip_open(path, &r, err);
	if (!g)
		return r;
	r = read_all(out, g, path, err);
	/* Many small files may be in memory at the same time. */
	fit = r ? NULL : realloc(out->data, out->len + 1);
	if (fit) {
		out->data = fit;
		out->cap = out->len + 1;
	}
	gunzip_close(g);
	return r;
}

/* Files that other files name */

/* Is it on a file system whose files are made up by the kernel? */
static bool is_made_up(int fd)
{
	struct statfs fs;

	if (fstatfs(fd, &fs))
		return true;
	switch ((unsigned long)fs.f_type) {
	case PROC_SUPER_MAGIC:
	case SYSFS_MAGIC:
	case DEBUGFS_MAGIC:
	case TRACEFS_MAGIC:
	case CGROUP_SUPER_MAGIC:
	case CGROUP2_SUPER_MAGIC:
	case SECURITYFS_MAGIC:
	case SELINUX_MAGIC:
	case EFIVARFS_MAGIC:
		return true;
	default:
		return false;
	}
}

/* Opening a device may start it: therefore stat() comes first. */
static int open_regular(const char *path, bool ours, struct stat *st, struct error *err)
{
	int r = ours ? trust_path(path, err) : 0, fd;

	if (r)
		return r;
	if (stat(path, st))
		return error_sys(err, -errno, path, NULL);
	if (!S_ISREG(st->st_mode))
		return error_set(err, ours ? -EPERM : -EINVAL, path, 0, 0, "not a regular file");
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return error_sys(err, -errno, path, NULL);
	r = ours ? trust_fstat(fd, st) : fstat(fd, st) ? -errno : 0;
	if (r)
		error_sys(err, r, path, NULL);
	else if (!S_ISREG(st->st_mode) || is_made_up(fd))
		r = error_set(err, ours ? -EPERM : -EINVAL, path, 0, 0,
			      "not a regular file that holds data");
	else if (ours)
		r = trust_check(path, st, err);
	if (!r)
		return fd;
	close(fd);
	return r;
}

static int read_regular(struct buf *out, const char *path, bool ours, struct error *err)
{
	struct stat st;
	int fd = open_regular(path, ours, &st, err), r = -EFBIG;

	if (fd < 0)
		return fd;
	if ((size_t)st.st_size <= INFILE_MAX) {
		r = readfile_fd(out, fd, (size_t)st.st_size);
		if (r == -EFBIG)	/* data that was appended meanwhile is not read */
			r = 0;
	}
	close(fd);
	return r ? error_sys(err, r, path, NULL) : 0;
}

int infile_read_regular(struct buf *out, const char *path, struct error *err)
{
	return read_regular(out, path, false, err);
}

int infile_read_ours(struct buf *out, const char *path, struct error *err)
{
	return read_regular(out, path, true, err);
}
