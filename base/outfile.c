/* SPDX-License-Identifier: MIT */
#include "base/outfile.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define TRIES 100

/* A device or pipe cannot be replaced: it is written to. So is a file without a path, to which a
 * link such as /dev/stdout leads. */
static int write_through(const char *path, const struct buf *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	return fd < 0 ? -errno : file_write_and_close(fd, text->data, text->len);
}

/* Does this name a file that cannot be replaced? real is its path without links, or NULL. */
static int is_written_through(const char *path, char **real)
{
	struct stat st;

	*real = realpath(path, NULL);
	if (!*real)
		return errno == ENOMEM ? -ENOMEM : !lstat(path, &st) && S_ISLNK(st.st_mode);
	if (stat(*real, &st) || S_ISREG(st.st_mode))
		return 0;
	return S_ISDIR(st.st_mode) ? -EISDIR : 1;
}

/* A file and the temporary one that replaces it, in a directory that stays open: changes of its
 * path in the meantime have no effect. */
struct outfile_place {
	int dir_fd;
	const char *name;
	char beside[32];
};

static int place_open(struct outfile_place *p, const char *path)
{
	const char *slash = strrchr(path, '/');
	char dir[PATH_MAX];

	p->name = slash ? slash + 1 : path;
	if ((size_t)snprintf(dir, sizeof dir, "%.*s", (int)(p->name - path), path) >= sizeof dir)
		return -ENAMETOOLONG;
	if (!*p->name)
		return -EISDIR;
	p->dir_fd = open(*dir ? dir : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return p->dir_fd < 0 ? -errno : 0;
}

/* Create the temporary file. */
static int place_begin(struct outfile_place *p)
{
	uint64_t number;
	int fd = -1;

	for (int i = 0; i < TRIES && fd < 0; i++) {
		if (getrandom(&number, sizeof number, 0) != sizeof number)
			return -EIO;
		snprintf(p->beside, sizeof p->beside, ".buildbeat-%016llx",
			 (unsigned long long)number);
		fd = openat(p->dir_fd, p->beside,
			    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd < 0 && errno != EEXIST)
			return -errno;
	}
	return fd < 0 ? -EEXIST : fd;
}

/* The mode of the replaced file if we own it, otherwise that of a new file. */
static mode_t place_mode(const struct outfile_place *p)
{
	struct stat st;

	if (!fstatat(p->dir_fd, p->name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode) &&
	    st.st_uid == geteuid())
		return st.st_mode & 0777;
	return 0666 & ~file_umask();
}

/* Give the temporary file its name, or delete it. */
static int place_end(const struct outfile_place *p, int fd, int r)
{
	if (!r && fchmod(fd, place_mode(p)))
		r = -errno;
	if (close(fd) && !r)
		r = -errno;
	if (!r && renameat(p->dir_fd, p->beside, p->dir_fd, p->name))
		r = -errno;
	if (r)
		unlinkat(p->dir_fd, p->beside, 0);
	return r;
}

static int place_fill(struct outfile_place *p, const struct buf *text)
{
	int fd = place_begin(p);

	return fd < 0 ? fd : place_end(p, fd, file_write_all(fd, text->data, text->len));
}

static int write_beside(const char *path, const struct buf *text)
{
	struct outfile_place p;
	int r = place_open(&p, path);

	if (r)
		return r;
	r = place_fill(&p, text);
	close(p.dir_fd);
	return r;
}

int outfile_replace(const char *path, const struct buf *text, struct error *err)
{
	int r = write_beside(path, text);

	return r ? error_sys(err, r, path, "cannot write") : 0;
}

static int write_stdout(const struct buf *text, struct error *err)
{
	struct outfile o;
	int r = outfile_begin(&o, OUTFILE_STDOUT, err);

	return r ? r : outfile_add(&o, text->data, text->len, err);
}

int outfile_write(const char *path, const struct buf *text, struct error *err)
{
	char *real;
	int r;

	if (!strcmp(path, OUTFILE_STDOUT))
		return write_stdout(text, err);
	r = is_written_through(path, &real);
	if (r >= 0)
		r = r ? write_through(path, text) : write_beside(real ? real : path, text);
	free(real);
	return r ? error_sys(err, r, path, "cannot write") : 0;
}

static int begin_place(struct outfile *o)
{
	int r;

	o->place = malloc(sizeof *o->place);
	if (!o->place)
		return -ENOMEM;
	r = place_open(o->place, o->path);
	if (!r) {
		o->fd = place_begin(o->place);
		if (o->fd >= 0)
			return 0;
		close(o->place->dir_fd);
		r = o->fd;
	}
	free(o->place);
	o->place = NULL;
	return r;
}

int outfile_begin(struct outfile *o, const char *path, struct error *err)
{
	char *real;
	int r;

	if (!strcmp(path, OUTFILE_STDOUT)) {
		*o = (struct outfile){ .path = "standard output", .fd = STDOUT_FILENO };
		return 0;
	}
	*o = (struct outfile){ .path = path, .fd = -1 };
	r = is_written_through(path, &real);
	free(real);
	if (r > 0) {
		o->fd = open(path, O_WRONLY | O_CLOEXEC);
		r = o->fd < 0 ? -errno : 0;
	} else if (!r) {
		r = begin_place(o);
	}
	return r ? error_sys(err, r, path, "cannot write") : 0;
}

int outfile_add(struct outfile *o, const void *p, size_t len, struct error *err)
{
	int r = file_write_all(o->fd, p, len);

	return r ? error_sys(err, r, o->path, "cannot write") : 0;
}

int outfile_end(struct outfile *o, int r, struct error *err)
{
	int end = 0;

	if (o->place) {
		end = place_end(o->place, o->fd, r);
		close(o->place->dir_fd);
	} else if (o->fd != STDOUT_FILENO && close(o->fd)) {
		end = -errno;
	}
	free(o->place);
	o->place = NULL;
	return r || !end ? r : error_sys(err, end, o->path, "cannot write");
}
