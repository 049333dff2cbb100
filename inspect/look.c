/* SPDX-License-Identifier: MIT */
#include "inspect/look.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/minmax.h"
#include "base/readfile.h"
#include "inspect/smaps.h"
#include "sampler/parse.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TEXT_CAP 65536
#define ATTEMPTS 5

/* Errors */

static int has_ended(const struct look *l, struct error *err)
{
	return error_set(err, -ESRCH, NULL, 0, 0, "process %d%s%s%s has ended", (int)l->pid,
			 l->name[0] ? " (" : "", l->name, l->name[0] ? ")" : "");
}

static int is_kernel_thread(const struct look *l, struct error *err)
{
	return error_set(err, -EINVAL, NULL, 0, 0, "process %d (%s) is a thread of the kernel, "
			 "which has no memory of its own", (int)l->pid, l->name);
}

static int not_permitted(const struct look *l, int r, struct error *err)
{
	struct stat st;

	if (fstat(l->dir_fd, &st))
		return error_sys(err, r, NULL, "cannot read the memory of a process");
	return error_set(err, r, NULL, 0, 0, "cannot read the memory of process %d (%s) of user "
			 "%u: %s%s", (int)l->pid, l->name, (unsigned)st.st_uid, strerror(-r),
			 geteuid() ? "; root can" : "");
}

static int file_error(const struct look *l, int r, const char *name, struct error *err)
{
	char path[64];

	if (r == -ESRCH)
		return has_ended(l, err);
	if (r == -EACCES || r == -EPERM)
		return not_permitted(l, -EACCES, err);
	snprintf(path, sizeof path, "/proc/%d/%s", (int)l->pid, name);
	return error_sys(err, r, path, "cannot read");
}

/* Files of the process */

/* A directory of /proc never becomes that of another process: its files give -ESRCH. */
static int read_small(const struct look *l, const char *name, struct root_text *t)
{
	int fd = openat(l->dir_fd, name, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, t->data, t->cap);
	int r = n < 0 ? -errno : 0;

	file_close(fd);
	t->len = n > 0 ? (size_t)n : 0;
	return r == -ENOENT ? -ESRCH : r;
}

static int read_stat(struct look *l, struct pid_stat *stat)
{
	struct root_text text = { l->text, 0, TEXT_CAP };
	int r = read_small(l, "stat", &text);

	if (!r && !parse_pid_stat(&text, stat))
		r = -ESRCH;
	if (!r)
		memcpy(l->name, stat->name, sizeof l->name);
	return r;
}

static bool is_dead(const struct pid_stat *stat)
{
	return (stat->state == 'Z' && stat->threads <= 1) || stat->state == 'X';
}

/* Open and close */

static int open_pid_fd(struct look *l, struct error *err)
{
	l->pid_fd = (int)syscall(SYS_pidfd_open, l->pid, 0);
	if (l->pid_fd >= 0 || errno == ENOSYS || errno == EPERM || errno == EMFILE)
		return 0;
	if (errno != ESRCH)	/* the number of a thread */
		return error_set(err, -ESRCH, NULL, 0, 0, "%d is the number of a thread, not of a "
				 "process", (int)l->pid);
	return error_set(err, -ESRCH, NULL, 0, 0, "there is no process %d", (int)l->pid);
}

static int open_directory(struct look *l, struct error *err)
{
	char path[32];

	snprintf(path, sizeof path, "/proc/%d", (int)l->pid);
	l->dir_fd = file_open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY);
	if (l->dir_fd >= 0)
		return 0;
	return l->dir_fd == -ENOENT || l->dir_fd == -ESRCH ?
		error_set(err, -ESRCH, NULL, 0, 0, "there is no process %d", (int)l->pid) :
		error_sys(err, l->dir_fd, path, "cannot open");
}

int look_open(struct look *l, int32_t pid, uint64_t expected_ticks, struct name_table *names,
	      struct error *err)
{
	struct pid_stat stat;
	int r;

	*l = (struct look){ .pid = pid, .pid_fd = -1, .dir_fd = -1, .memory_fd = -1,
			    .names = names, .text = malloc(TEXT_CAP) };
	if (!l->text)
		return error_sys(err, -ENOMEM, NULL, "cannot inspect a process");
	/* if the process still lives after the second call, both opened the same one */
	r = open_pid_fd(l, err);
	if (!r)
		r = open_directory(l, err);
	if (r)
		return r;
	r = read_stat(l, &stat);
	if (r)
		return file_error(l, r, "stat", err);
	l->start_ticks = stat.start_ticks;
	if (expected_ticks && expected_ticks != stat.start_ticks) {
		l->name[0] = '\0';
		return has_ended(l, err);
	}
	if (stat.kernel)
		return is_kernel_thread(l, err);
	return is_dead(&stat) || look_ended(l) ? has_ended(l, err) : 0;
}

void look_close(struct look *l)
{
	file_close(l->pid_fd);
	file_close(l->dir_fd);
	file_close(l->memory_fd);
	free_all(l->text, l->module, l->known);
	*l = (struct look){ .pid_fd = -1, .dir_fd = -1, .memory_fd = -1 };
}

bool look_ended(struct look *l)
{
	struct pollfd p = { .fd = l->pid_fd, .events = POLLIN };
	struct pid_stat stat;

	if (l->pid_fd >= 0)
		return poll(&p, 1, 0) == 1;
	return read_stat(l, &stat) || is_dead(&stat);
}

/* Values */

static uint64_t kb_of_pages(uint64_t pages)
{
	uint64_t page_kb = (uint64_t)sysconf(_SC_PAGESIZE) / 1024;

	return pages % (UINT64_MAX >> 16) * page_kb;
}

static void read_io(struct look *l, struct process_values *v)
{
	struct root_text text = { l->text, 0, TEXT_CAP };
	struct want io[] = { { .key = "read_bytes" }, { .key = "write_bytes" } };

	if (read_small(l, "io", &text) || parse_keyed(&text, io, 2) != 2)
		return;
	v->has_io = true;
	v->read_kb = io[0].value / 1024;
	v->written_kb = io[1].value / 1024;
}

static void values_of(struct look *l, const struct pid_stat *stat, struct process_values *v)
{
	*v = (struct process_values){
		.user_ticks = stat->user_ticks, .system_ticks = stat->system_ticks,
		.minor_faults = stat->minor_faults, .major_faults = stat->major_faults,
		.rss_kb = kb_of_pages(stat->rss_pages),
		.threads = stat->threads < UINT32_MAX ? (uint32_t)stat->threads : UINT32_MAX,
	};
	read_io(l, v);
}

int look_read_values(struct look *l, struct process_values *v, struct error *err)
{
	struct pid_stat stat;
	int r = read_stat(l, &stat);

	if (r)
		return file_error(l, r, "stat", err);
	if (is_dead(&stat))
		return has_ended(l, err);
	values_of(l, &stat, v);
	return 0;
}

/* Mappings */

struct thread_search {
	struct look *look;
	char tid[24];
};

static bool try_thread(void *ctx, const char *name)
{
	struct thread_search *s = ctx;
	struct root_text text = { s->look->text, 0, TEXT_CAP / 2 };
	struct pid_stat stat;
	char path[48];

	if (!root_pid_of(name))
		return true;
	snprintf(path, sizeof path, "task/%.20s/stat", name);
	if (read_small(s->look, path, &text) || !parse_pid_stat(&text, &stat) ||
	    stat.state == 'Z' || stat.state == 'X')
		return true;
	snprintf(s->tid, sizeof s->tid, "%.20s", name);
	return false;
}

/*
 * Open smaps or pagemap. If the first thread has ended and others have not, the memory is found
 * in their directories only.
 */
static int open_memory_file(struct look *l, const struct pid_stat *stat, const char *name)
{
	struct root_text memory = { l->text + TEXT_CAP / 2, 0, TEXT_CAP / 2 };
	struct thread_search s = { .look = l };
	char path[64];
	int fd, tasks;

	snprintf(path, sizeof path, "%s", name);
	if (stat->state == 'Z') {
		tasks = openat(l->dir_fd, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (tasks >= 0) {
			root_list_names(tasks, &memory, try_thread, &s);
			close(tasks);
		}
		if (!s.tid[0])
			return -ESRCH;
		snprintf(path, sizeof path, "task/%s/%s", s.tid, name);
	}
	fd = openat(l->dir_fd, path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* The kernel returns a page at a time. Several are parsed together. */
static int read_all(struct look *l, struct smaps *p, int fd)
{
	size_t len = 0, used;
	ssize_t n;
	int r = 0;

	do {
		n = read(fd, l->text + len, TEXT_CAP - len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		len += (size_t)n;
		if (n && TEXT_CAP - len >= TEXT_CAP / 4)
			continue;
		r = smaps_parse(p, l->text, len, &used);
		if (!r && !used && len == TEXT_CAP)
			r = -EINVAL;	/* a line of 64 KiB */
		len -= used;
		memmove(l->text, l->text + used, len);
	} while (!r && n);
	return r;
}

static int read_mappings(struct look *l, struct snapshot *s, int fd, struct error *err)
{
	struct smaps p;
	char path[64];
	int r;

	smaps_init(&p, s, l->names);
	r = read_all(l, &p, fd);
	if (r != -EINVAL)
		return r ? file_error(l, r, "smaps", err) : 0;
	snprintf(path, sizeof path, "/proc/%d/smaps", (int)l->pid);
	return error_set(err, r, path, (unsigned)p.lines, 0, "expected a mapping or its size");
}

/* Of an entry of /proc/PID/pagemap, 64 bits for each page: it is in memory. */
#define PAGE_PRESENT (UINT64_C(1) << 63)
/* Mappings of more pages are left out: 64 GiB, of which most is usually only reserved. */
#define PAGES_OF_MAPPING_MAX (UINT64_C(1) << 24)

static int add_page(struct snapshot *s, uint64_t start, uint64_t page_size)
{
	struct resident *last = s->n_resident ? &s->resident[s->n_resident - 1] : NULL;

	if (!last || last->end != start) {
		last = array_add(&s->resident, &s->n_resident, sizeof *last);
		if (!last)
			return -ENOMEM;
		last->start = start;
	}
	last->end = start + page_size;
	return 0;
}

static int read_pages_of(struct look *l, struct snapshot *s, const struct mapping *m, int fd,
			 uint64_t page_size)
{
	uint64_t at = m->start / page_size, end = m->end / page_size, *entry = (void *)l->text;

	while (at < end) {
		size_t n = MIN((size_t)(end - at), TEXT_CAP / sizeof *entry);
		ssize_t got = readfile_some_at(fd, entry, n * sizeof *entry,
					       (off_t)(at * sizeof *entry));

		if (got < (ssize_t)sizeof *entry)	/* above what the process can use */
			return got < 0 ? (int)got : 0;
		n = (size_t)got / sizeof *entry;
		for (size_t i = 0; i < n; i++, at++) {
			if (entry[i] & PAGE_PRESENT && add_page(s, at * page_size, page_size))
				return -ENOMEM;
		}
	}
	return 0;
}

/* The pages that are in memory. What is wrong with them must not cost the mappings. */
static void read_pages(struct look *l, const struct pid_stat *stat, struct snapshot *s)
{
	uint64_t page_size = (uint64_t)sysconf(_SC_PAGESIZE);
	int fd = open_memory_file(l, stat, "pagemap"), r = 0;

	if (fd < 0)
		return;
	s->n_resident = 0;
	for (size_t i = 0; i < s->n && !r; i++) {
		const struct mapping *m = &s->mapping[i];

		if ((m->kb[MAPPING_RSS] || m->kb[MAPPING_HUGE]) &&
		    (m->end - m->start) / page_size <= PAGES_OF_MAPPING_MAX)
			r = read_pages_of(l, s, m, fd, page_size);
	}
	s->has_pages = !r;
	close(fd);
}

/* After the process ended or executed another program, the file of its old memory is empty. If
 * not, the memory was the same all the time. Only the first mapping is listed for one byte. */
static bool is_same_memory(int fd)
{
	char c;

	return pread(fd, &c, 1, 0) == 1;
}

/* 0, -EAGAIN without a message if it must be read again, or another error. */
static int try_to_read(struct look *l, struct snapshot *s, bool pages, struct error *err)
{
	struct pid_stat stat;
	int fd, r = read_stat(l, &stat);

	if (r)
		return file_error(l, r, "stat", err);
	if (is_dead(&stat))
		return has_ended(l, err);
	fd = open_memory_file(l, &stat, "smaps");
	if (fd < 0)
		return look_ended(l) ? has_ended(l, err) : fd == -ESRCH ? -EAGAIN :
		       file_error(l, fd, "smaps", err);
	r = read_mappings(l, s, fd, err);
	if (!r && pages)
		read_pages(l, &stat, s);
	if (!r && !is_same_memory(fd))
		r = look_ended(l) ? has_ended(l, err) : -EAGAIN;
	if (!r)
		r = read_stat(l, &stat) ? has_ended(l, err) : 0;
	if (!r)
		values_of(l, &stat, &s->process);
	close(fd);
	return r;
}

int look_read(struct look *l, struct snapshot *s, bool pages, struct error *err)
{
	int64_t start_ns = clock_mono_ns();
	int r = -EAGAIN;

	for (int i = 0; i < ATTEMPTS && r == -EAGAIN; i++) {
		snapshot_clear(s);
		r = try_to_read(l, s, pages, err);
	}
	/* one that ends has no memory for a while before it is a zombie */
	if (r == -EAGAIN && !s->n)
		r = has_ended(l, err);
	if (r == -EAGAIN)
		r = error_set(err, r, NULL, 0, 0, "process %d (%s) executed another program "
				 "each time it was read", (int)l->pid, l->name);
	if (r)
		snapshot_clear(s);
	s->took_us = (clock_mono_ns() - start_ns) / 1000;
	return r;
}
