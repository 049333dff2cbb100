/* SPDX-License-Identifier: MIT */
#include "sampler/log.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static int64_t file_size_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur > INT64_MAX)
		return INT64_MAX;
	return (int64_t)limit.rlim_cur;
}

static int end_torn_line(struct log *l)
{
	struct buf newline = { .data = (char[]){ "\n" }, .len = 1 };
	char last;

	if (!l->size || pread(l->fd, &last, 1, l->size - 1) != 1 || last == '\n')
		return 0;
	return log_append(l, &newline);
}

int log_open(struct log *l, int dir_fd, const char *name)
{
	char file[64];
	struct stat st;

	*l = (struct log)LOG_CLOSED;
	snprintf(file, sizeof file, "%s.log", name);
	l->fd = file_open_at(dir_fd, file, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW);
	if (l->fd < 0)
		return l->fd;
	l->size = fstat(l->fd, &st) ? 0 : st.st_size;
	l->size_max = file_size_limit();
	return end_torn_line(l);
}

void log_close(struct log *l)
{
	file_close(l->fd);
	*l = (struct log)LOG_CLOSED;
}

static int write_once(struct log *l, const struct buf *b)
{
	ssize_t n;

	if (l->size_max - l->size < (int64_t)b->len)
		return -EFBIG;
	do {
		n = write(l->fd, b->data, b->len);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	if ((size_t)n == b->len)
		return 0;
	return ftruncate(l->fd, l->size) ? -errno : -ENOSPC;
}

int log_append(struct log *l, const struct buf *b)
{
	int r = b->error;

	if (!r && !b->len)
		return 0;
	if (!r)
		r = write_once(l, b);
	if (!r)
		l->size += (int64_t)b->len;
	else if (!l->error)
		l->error = r;
	return r;
}
