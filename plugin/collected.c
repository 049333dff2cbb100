/* SPDX-License-Identifier: MIT */
#include "plugin/collected.h"

#include "base/minmax.h"
#include "plugin/pipes.h"

#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

/* Parts that are not printed yet. */
#define PARTS_MAX 1024

struct part {
	uint64_t task;
	int fd, to;		/* make's descriptor of the file; where make prints it */
	off_t end;		/* -1: the process runs */
};

/* Those of a file are in their order. */
static struct {
	volatile sig_atomic_t busy;	/* a handler of make interrupts us, and does not return */
	unsigned n;
	struct part part[PARTS_MAX];
} parts;

bool collected_begin(int out_fd, int err_fd, uint64_t task)
{
	if (parts.busy || parts.n + 2 > PARTS_MAX)
		return false;
	parts.busy = 1;
	if (out_fd >= 0)
		parts.part[parts.n++] = (struct part){ task, out_fd, STDOUT_FILENO, -1 };
	/* of a common file, which make prints once, this one is empty */
	if (err_fd >= 0)
		parts.part[parts.n++] = (struct part){ task, err_fd, STDERR_FILENO, -1 };
	parts.busy = 0;
	return true;
}

/* Where the part of the file before this one ends. */
static off_t begin_of(const struct part *p)
{
	int fd = p->fd;

	while (p-- > parts.part) {
		if (p->fd == fd && p->end >= 0)
			return p->end;
	}
	return 0;
}

/* Of a silent process nothing is kept: its file may be closed without being printed. */
void collected_end(uint64_t task)
{
	int saved = errno;
	unsigned n = 0;
	struct stat st;

	if (parts.busy || !parts.n)
		return;
	parts.busy = 1;
	for (unsigned i = 0; i < parts.n; i++) {
		struct part *p = &parts.part[i];
		bool silent = false;

		if (p->task == task && p->end < 0) {
			p->end = fstat(p->fd, &st) ? 0 : st.st_size;
			silent = p->end <= begin_of(p);
		}
		if (!silent)
			parts.part[n++] = *p;
	}
	parts.n = n;
	parts.busy = 0;
	errno = saved;
}

/* Copy the file from its position to end, or to its end. False: something was not written; the position is behind
 * what was. */
static bool copy_to(int to, int fd, off_t end, char *buf, size_t size)
{
	off_t at = lseek(fd, 0, SEEK_CUR);
	ssize_t n = 1;

	while (at < end && n) {
		n = pread(fd, buf, (size_t)MIN(end - at, (off_t)size), at);
		if (n > 0)
			n = write(to, buf, (size_t)n);
		if (n < 0 && errno != EINTR)
			break;
		at += MAX(n, 0);
	}
	return lseek(fd, at, SEEK_SET) == at && n >= 0;
}

static bool print_part(const struct part *p, off_t end, char *buf, size_t size, const struct store *store,
		       void (*missed)(uint64_t task))
{
	struct pipes_of of;
	int to;
	bool done;

	if (lseek(p->fd, 0, SEEK_CUR) >= end)
		return true;
	to = pipes_lend(p->to, &of, store, p->task);
	if (to < 0)
		missed(p->task);
	done = copy_to(to < 0 ? p->to : to, p->fd, end, buf, size);
	pipes_ended(&of);
	return done;
}

/* The last part of a file is printed with what follows. The parts are removed. */
static bool print_parts(int fd, char *buf, size_t size, const struct store *store, void (*missed)(uint64_t task))
{
	struct part last = { .fd = -1 };
	bool done = true;
	unsigned n = 0;

	for (unsigned i = 0; i < parts.n; i++) {
		if (parts.part[i].fd != fd) {
			parts.part[n++] = parts.part[i];
			continue;
		}
		if (last.fd >= 0 && done)
			done = print_part(&last, last.end, buf, size, store, missed);
		last = parts.part[i];
	}
	parts.n = n;
	return last.fd >= 0 && done && print_part(&last, INT64_MAX, buf, size, store, missed);
}

bool collected_print(int fd, char *buf, size_t size, const struct store *store, void (*missed)(uint64_t task))
{
	int saved = errno;
	bool done;

	if (parts.busy)
		return false;
	parts.busy = 1;
	done = print_parts(fd, buf, size, store, missed);
	parts.busy = 0;
	errno = saved;
	return done;
}
