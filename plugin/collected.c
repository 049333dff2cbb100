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
	dev_t dev;
	ino_t ino;
	off_t end;		/* -1: the process runs */
};

/* Those of a file are in their order. */
static struct {
	volatile sig_atomic_t busy;	/* a handler of make interrupts us, and does not return */
	unsigned n;
	struct part part[PARTS_MAX];
} parts;

/* The parts of a descriptor, except those in a file that has something. */
static void forget(int fd, const struct stat *st)
{
	unsigned n = 0;

	for (unsigned i = 0; i < parts.n; i++) {
		const struct part *p = &parts.part[i];

		if (p->fd != fd || (st->st_size && p->ino == st->st_ino && p->dev == st->st_dev))
			parts.part[n++] = *p;
	}
	parts.n = n;
}

static bool begin_part(int fd, int to, uint64_t task)
{
	struct stat st;

	if (fd < 0)
		return true;
	if (fstat(fd, &st))
		return false;
	forget(fd, &st);
	if (parts.n == PARTS_MAX)
		return false;
	parts.part[parts.n++] = (struct part){ task, fd, to, st.st_dev, st.st_ino, -1 };
	return true;
}

bool collected_begin(int out_fd, int err_fd, uint64_t task)
{
	int saved = errno;
	bool known;

	if (parts.busy)
		return false;
	parts.busy = 1;
	/* make prints a common file once */
	known = begin_part(out_fd, STDOUT_FILENO, task) &&
		begin_part(err_fd == out_fd ? -1 : err_fd, STDERR_FILENO, task);
	parts.busy = 0;
	errno = saved;
	return known;
}

/* Where the part of the file before this one ends, -1: there is none. */
static off_t begin_of(const struct part *p)
{
	int fd = p->fd;

	while (p-- > parts.part) {
		if (p->fd == fd && p->end >= 0)
			return p->end;
	}
	return -1;
}

/* A silent process behind another one has no part. */
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

static bool has_parts(int fd)
{
	for (unsigned i = 0; i < parts.n; i++) {
		if (parts.part[i].fd == fd)
			return true;
	}
	return false;
}

/* The last part of a file is printed with what follows. It stays, for make empties the file, and what a process
 * in the background writes then is of its target, too. */
static bool print_parts(int fd, char *buf, size_t size, const struct store *store, void (*missed)(uint64_t task))
{
	const struct part *before = NULL;
	struct part last;
	struct stat st;
	bool done = true;

	if (!has_parts(fd) || fstat(fd, &st))
		return false;
	/* of a file that make has closed; its files have no name */
	if (st.st_nlink)
		st.st_size = 0;
	forget(fd, &st);
	for (unsigned i = 0; i < parts.n && done; i++) {
		if (parts.part[i].fd != fd)
			continue;
		if (before)
			done = print_part(before, before->end, buf, size, store, missed);
		before = &parts.part[i];
	}
	if (!before)
		return false;
	last = *before;
	done = done && print_part(&last, INT64_MAX, buf, size, store, missed);
	forget(fd, &(struct stat){ 0 });
	last.end = MIN(last.end, 0);
	parts.part[parts.n++] = last;
	return done;
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
