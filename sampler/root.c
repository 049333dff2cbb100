/* SPDX-License-Identifier: MIT */
#include "sampler/root.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* No record of these files is this long: if a read leaves more than this of the kernel's page
 * unused, it has reached the end. */
#define RECORD_MAX 2048
#define PAGE_MIN 4096

int root_open(struct root *r, const char *proc, const char *sys)
{
	*r = (struct root)ROOT_INIT;
	r->proc_fd = file_open_at(AT_FDCWD, proc ? proc : "/proc", O_PATH | O_DIRECTORY);
	if (r->proc_fd < 0)
		return r->proc_fd;
	r->sys_fd = file_open_at(AT_FDCWD, sys ? sys : "/sys", O_PATH | O_DIRECTORY);
	return 0;
}

void root_close(struct root *r)
{
	file_close(r->proc_fd);
	file_close(r->sys_fd);
	*r = (struct root)ROOT_INIT;
}

bool root_is_ours(int proc_fd)
{
	char own[16], seen[16];
	ssize_t n = readlinkat(proc_fd, "self", seen, sizeof seen);
	int len = snprintf(own, sizeof own, "%d", (int)getpid());

	return n < 0 || (n == len && !memcmp(own, seen, (size_t)n));
}

bool root_has(int root_fd, const char *path)
{
	return root_fd >= 0 && !faccessat(root_fd, path, F_OK, 0);
}

void root_text_cursor(const struct root_text *t, struct cursor *c)
{
	cursor_init(c, t->data, t->len);
}

int root_file_open(struct root_file *f, int root_fd, const char *path, enum root_file_kind kind)
{
	*f = (struct root_file){ -1, kind, 0 };
	if (root_fd < 0)
		return -ENOENT;
	f->fd = file_open_at(root_fd, path, O_RDONLY);
	return f->fd < 0 ? f->fd : 0;
}

void root_file_close(struct root_file *f)
{
	file_close(f->fd);
	f->fd = -1;
}

static bool is_last(const struct root_file *f, size_t n)
{
	return !n || f->kind == ROOT_WHOLE ||
	       (f->kind == ROOT_RECORDS && n <= PAGE_MIN - RECORD_MAX);
}

int root_file_read(const struct root_file *f, struct root_text *t)
{
	size_t cap = f->enough && f->enough < t->cap ? f->enough : t->cap;
	ssize_t n;

	t->len = 0;
	if (f->fd < 0)
		return -EBADF;
	do {
		n = pread(f->fd, t->data + t->len, cap - t->len, (off_t)t->len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			t->len = 0;
			return -errno;
		}
		t->len += (size_t)n;
		if (t->len == cap) {
			const char *end = memrchr(t->data, '\n', t->len);

			t->len = end ? (size_t)(end - t->data) + 1 : 0;
			return 0;
		}
	} while (n < 0 || !is_last(f, (size_t)n));
	return 0;
}

int root_read_once(int root_fd, const char *path, struct root_text *t)
{
	struct root_file f;
	int r = root_file_open(&f, root_fd, path, ROOT_LONG_RECORDS);

	t->len = 0;
	if (r)
		return r;
	r = root_file_read(&f, t);
	root_file_close(&f);
	return r;
}

/* What getdents64() writes: the C libraries disagree about its declaration. */
struct listed {
	uint64_t inode;
	int64_t offset;
	unsigned short size;
	unsigned char type;
	char name[];
};

void root_list_names(int dir_fd, struct root_text *memory,
		     bool (*each)(void *ctx, const char *name), void *ctx)
{
	long n;

	lseek(dir_fd, 0, SEEK_SET);
	while ((n = syscall(SYS_getdents64, dir_fd, memory->data, memory->cap)) > 0) {
		for (long at = 0; at < n;) {
			const struct listed *d = (const void *)(memory->data + at);

			if (!each(ctx, d->name))
				return;
			at += d->size;
		}
	}
}

bool root_read_process(int proc_fd, int32_t pid, const char *name, struct root_text *t)
{
	char path[96];
	ssize_t n;
	int fd;

	t->len = 0;
	snprintf(path, sizeof path, "%d/%s", (int)pid, name);
	fd = openat(proc_fd, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, t->data, t->cap);
	close(fd);
	t->len = n > 0 ? (size_t)n : 0;
	return n >= 0;
}

struct children_list {
	int proc_fd;
	int32_t pid;
	struct root_text *text;
	void (*each)(void *ctx, int32_t pid);
	void *ctx;
};

static bool list_of_thread(void *ctx, const char *tid)
{
	const struct children_list *l = ctx;
	struct root_text *t = l->text;
	struct cursor c;
	char name[64];
	uint64_t child;

	snprintf(name, sizeof name, "task/%s/children", tid);
	if (tid[0] == '.' || !root_read_process(l->proc_fd, l->pid, name, t))
		return true;
	/* the last number of a full text may be truncated */
	if (t->len == t->cap) {
		while (t->len && t->data[t->len - 1] != ' ')
			t->len--;
	}
	root_text_cursor(t, &c);
	while (cursor_u64(&c, &child)) {
		if (child && child <= INT32_MAX)
			l->each(l->ctx, (int32_t)child);
		cursor_blanks(&c);
	}
	return true;
}

void root_list_threads(int proc_fd, int32_t pid, struct root_text *names,
		       bool (*each)(void *ctx, const char *tid), void *ctx)
{
	char name[32];
	int fd;

	snprintf(name, sizeof name, "%d/task", (int)pid);
	fd = openat(proc_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return;
	root_list_names(fd, names, each, ctx);
	close(fd);
}

void root_list_children(int proc_fd, int32_t pid, uint64_t threads, struct root_text *text,
			struct root_text *names, void (*each)(void *ctx, int32_t pid), void *ctx)
{
	struct children_list l = { proc_fd, pid, text, each, ctx };
	char tid[16];

	if (threads > 1) {
		root_list_threads(proc_fd, pid, names, list_of_thread, &l);
		return;
	}
	snprintf(tid, sizeof tid, "%d", (int)pid);
	list_of_thread(&l, tid);
}

int32_t root_pid_of(const char *name)
{
	uint64_t pid;

	return cursor_slice_u64(slice_of(name), &pid) && pid <= INT32_MAX ?
		(int32_t)pid : 0;
}
