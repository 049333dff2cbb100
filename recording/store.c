/* SPDX-License-Identifier: MIT */
#include "recording/store.h"

#include "base/clock.h"
#include "base/file.h"
#include "command/redact.h"
#include "recording/layout.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

int64_t store_now_us(const struct store *s)
{
	return (clock_mono_ns() - s->start_ns) / 1000;
}

/* tasks.log; on NFS, where appends of several hosts or processes may overwrite
 * each other, a file of this writer's own. */
static int open_tasks(struct store *s, int create)
{
	char name[64];
	int fd, r;

	if (!file_is_nfs(s->dir_fd))
		return file_open_at(s->dir_fd, LAYOUT_TASKS,
				     O_WRONLY | O_APPEND | O_NOFOLLOW | create);
	s->flags |= STORE_NFS;
	snprintf(name, sizeof name, LAYOUT_TASKS_PREFIX "-%s.log", s->inst);
	fd = file_open_at(s->dir_fd, name, O_WRONLY | O_APPEND | O_CREAT | O_EXCL);
	if (fd < 0)
		return fd;
	r = file_write(fd, TASKS_HEADER, strlen(TASKS_HEADER));
	if (r)
		close(fd);
	return r ? r : fd;
}

/* Instances that threads of one process open at the same time have different ids, too. */
static int64_t instance_time_us(const struct store *s)
{
	/* in .data, whose page ld.so has touched anyway: every make uses it */
	static __attribute__((section(".data"))) _Atomic int64_t last_us;
	int64_t last = atomic_load_explicit(&last_us, memory_order_relaxed), next;

	do {
		next = last ? last + EVENT_INSTANCE_STEP_US : store_now_us(s);
	} while (!atomic_compare_exchange_weak(&last_us, &last, next));
	return next;
}

/* In another PID namespace, the own number says nothing about the processes of the recording. */
static void find_place(struct store *s, struct slice ticket)
{
	s->outer_pid = s->pid = getpid();
	s->inner = s->pidspace && pidspace_own() != s->pidspace;
	if (s->inner)
		s->outer_pid = pidspace_ask(s->around, ticket);
}

void store_become_writer(struct store *s, struct slice ticket)
{
	find_place(s, ticket);
	event_instance_id(s->inst, s->outer_pid > 0 ? s->outer_pid : s->pid, instance_time_us(s));
	s->limited = file_has_size_limit();
}

int store_open(struct store *s, int create, struct slice ticket)
{
	int r;

	s->dir_fd = file_open_at(AT_FDCWD, s->path, O_RDONLY | O_DIRECTORY);
	if (s->dir_fd < 0)
		return s->dir_fd;
	store_become_writer(s, ticket);
	s->tasks_fd = open_tasks(s, create);
	if (s->tasks_fd < 0) {
		r = s->tasks_fd;
		store_close(s);
		return r;
	}
	return 0;
}

int store_open_dir(struct store *s)
{
	if (s->dir_fd < 0)
		s->dir_fd = file_open_at(AT_FDCWD, s->path, O_RDONLY | O_DIRECTORY);
	return s->dir_fd < 0 ? s->dir_fd : 0;
}

void store_close(struct store *s)
{
	int saved = errno;

	store_tell_lost(s);
	file_close(s->tasks_fd);
	file_close(s->dir_fd);
	file_close(s->build_fd);
	s->tasks_fd = s->dir_fd = s->build_fd = -1;
	errno = saved;
}

static struct store_lost *lost_of(struct store *s)
{
	return s->lost ? s->lost : &s->own_lost;
}

/* The parent reports what a fork has inherited from it. */
static bool is_of_another(const struct store *s, const struct store_lost *lost)
{
	return !s->lost && lost->pid != getpid();
}

void store_tell_lost(struct store *s)
{
	struct store_lost *lost = lost_of(s);
	struct lost l = { .reason = lost->reason };
	int cancel_state, fd;

	if (!lost->lines || is_of_another(s, lost))
		return;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	/* In this order there are never more tasks than lines. */
	l.tasks = atomic_exchange(&lost->tasks, 0);
	l.lines = atomic_exchange(&lost->lines, 0);
	/* Opened again, because the host may have closed dir_fd or reused its number. */
	fd = file_open_at(AT_FDCWD, s->path, O_RDONLY | O_DIRECTORY);
	if (fd < 0 || (l.lines && lost_append_tasks(fd, store_now_us(s), s->inst, &l))) {
		lost->lines += l.lines;
		lost->tasks += l.tasks;
	}
	file_close(fd);
	pthread_setcancelstate(cancel_state, &cancel_state);
}

static void lose(struct store *s, const char *text, size_t len, int error)
{
	struct store_lost *lost = lost_of(s);
	struct lost l = { 0 };

	lost_count(&l, text, len);
	if (error == -ENOBUFS && (!len || text[len - 1] == '\n'))
		l.lines++;	/* nothing of the line that did not fit is in the buffer */
	if (is_of_another(s, lost)) {
		lost->lines = lost->tasks = 0;
		lost->pid = getpid();
		lost->lacked_room = false;
	}
	if (!lost->lines)
		lost->reason = error;
	lost->lines += l.lines;
	lost->tasks += l.tasks;
	/* The first loss is reported at once, because the process may be killed. */
	if (!atomic_exchange(&lost->lacked_room, true))
		store_tell_lost(s);
}

void store_lose(struct store *s, struct buf *b, int error)
{
	if (b->len)
		lose(s, b->data, b->len, error);
	buf_clear(b);
}

/*
 * A part was written: a line that is not whole is removed again, so that the next
 * writer's line does not continue it. Returns how many bytes stay.
 */
static size_t cut_torn(int fd, const char *text, size_t n)
{
	const char *eol = memrchr(text, '\n', n);
	size_t whole = eol ? (size_t)(eol + 1 - text) : 0;
	off_t end = lseek(fd, 0, SEEK_CUR);
	struct stat st;

	if (n > whole && end >= (off_t)n && !fstat(fd, &st) && st.st_size == end &&
	    ftruncate(fd, end - (off_t)(n - whole))) {
		/* if the torn line cannot be removed, it is ended */
		file_write(fd, "\n", 1);
	}
	return whole;
}

static void append(struct store *s, int fd, const char *text, size_t len)
{
	ssize_t n;

	do {
		n = s->limited ? file_write_quietly(fd, text, len) : write(fd, text, len);
	} while (n < 0 && errno == EINTR);
	if (n == (ssize_t)len) {
		if (lost_of(s)->lines)
			store_tell_lost(s);
		return;
	}
	if (n < 0) {
		int error = -errno;

		if (!lost_is_full(error))
			s->error = error;
		lose(s, text, len, error);
	} else {
		size_t whole = cut_torn(fd, text, (size_t)n);

		lose(s, text + whole, len - whole, file_has_size_limit() ? -EFBIG : -ENOSPC);
	}
}

/* write() is a cancellation point, which the calling function of the host may not be. */
void store_append_at(struct store *s, int fd, struct buf *b)
{
	int saved = errno, cancel_state;
	int r = buf_error(b);

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	if (r || (s->error && b->len))
		lose(s, b->data, b->len, r ? r : s->error);
	else if (fd >= 0 && b->len)
		append(s, fd, b->data, b->len);
	buf_clear(b);
	pthread_setcancelstate(cancel_state, &cancel_state);
	errno = saved;
}

void store_append(struct store *s, struct buf *b)
{
	store_append_at(s, s->tasks_fd, b);
}

int store_error(const struct store *s)
{
	const struct store_lost *lost = s->lost ? s->lost : &s->own_lost;
	struct rlimit limit;
	struct stat st;

	if (s->error)
		return s->error;
	if (lost->lacked_room)
		return lost->reason;
	if (!s->limited || getrlimit(RLIMIT_FSIZE, &limit) || fstat(s->tasks_fd, &st))
		return 0;
	return (rlim_t)st.st_size < limit.rlim_cur ? 0 : -EFBIG;
}

void store_add_build(struct buf *b, const char *key, const char *value)
{
	buf_adds(b, key);
	buf_adds(b, ": ");
	redact_field(b, value, strlen(value), EVENT_MAX - 128);
	buf_addc(b, '\n');
}

int store_append_build(struct store *s, const struct buf *b)
{
	int fd, r;

	if (buf_error(b))
		return buf_error(b);
	fd = file_open_at(s->dir_fd, LAYOUT_BUILD, O_WRONLY | O_APPEND);
	if (fd < 0)
		return fd;
	r = file_write(fd, b->data, b->len);
	if (close(fd) && !r)
		r = -errno;
	return r;
}

void store_add_redact(struct buf *b, const char *key)
{
	if (redact_is_default())
		return;
	buf_adds(b, key);
	redact_add_words(b);
	buf_addc(b, '\n');
}
