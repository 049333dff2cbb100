#include "outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int write_all(int fd, const char *p, size_t n)
{
	while (n) {
		ssize_t done = write(fd, p, n);

		if (done < 0 && errno != EINTR)
			return -errno;
		if (done > 0) {
			p += done;
			n -= (size_t)done;
		}
	}
	return 0;
}

/* A device or pipe cannot be replaced: it is written to. */
static int write_through(const char *path, const struct buf *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int r;

	if (fd < 0)
		return -errno;
	r = write_all(fd, text->data, text->len);
	if (close(fd) && !r)
		r = -errno;
	return r;
}

static int write_beside(const char *path, const struct buf *text)
{
	char beside[PATH_MAX];
	mode_t mask = umask(0);
	int fd, r;

	umask(mask);
	if (snprintf(beside, sizeof beside, "%s.XXXXXX", path) >= (int)sizeof beside)
		return -ENAMETOOLONG;
	fd = mkostemp(beside, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = write_all(fd, text->data, text->len);
	if (!r && fchmod(fd, 0666 & ~mask))
		r = -errno;
	if (close(fd) && !r)
		r = -errno;
	if (!r && rename(beside, path))
		r = -errno;
	if (r)
		unlink(beside);
	return r;
}

int outfile_write(const char *path, const struct buf *text, struct error *err)
{
	char *real = realpath(path, NULL);
	const char *to = real ? real : path;
	struct stat st;
	int r;

	if (!stat(to, &st) && !S_ISREG(st.st_mode))
		r = S_ISDIR(st.st_mode) ? -EISDIR : write_through(to, text);
	else
		r = write_beside(to, text);
	free(real);
	return r ? error_sys(err, r, path, "cannot write") : 0;
}
