/* SPDX-License-Identifier: MIT */
#include "sampler/root.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* No record of the files we read is as long as this: a read that leaves more
 * than that of the kernel's page unused has reached the end. */
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
	if (r->proc_fd >= 0)
		close(r->proc_fd);
	if (r->sys_fd >= 0)
		close(r->sys_fd);
	*r = (struct root)ROOT_INIT;
}

bool root_has(int root_fd, const char *path)
{
	return root_fd >= 0 && !faccessat(root_fd, path, F_OK, 0);
}

void text_cursor(const struct text *t, struct cursor *c)
{
	cursor_init(c, t->data, t->len);
}

int file_open(struct file *f, int root_fd, const char *path, enum file_kind kind)
{
	*f = (struct file){ -1, kind, 0 };
	if (root_fd < 0)
		return -ENOENT;
	f->fd = file_open_at(root_fd, path, O_RDONLY);
	return f->fd < 0 ? f->fd : 0;
}

void file_close(struct file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
}

static void cut_last_line(struct text *t)
{
	const char *end = memrchr(t->data, '\n', t->len);

	t->len = end ? (size_t)(end - t->data) + 1 : 0;
}

static bool is_last(const struct file *f, size_t n)
{
	return !n || f->kind == FILE_WHOLE ||
	       (f->kind == FILE_RECORDS && n <= PAGE_MIN - RECORD_MAX);
}

int file_read(const struct file *f, struct text *t)
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
			cut_last_line(t);
			return 0;
		}
	} while (n < 0 || !is_last(f, (size_t)n));
	return 0;
}

int file_read_once(int root_fd, const char *path, struct text *t)
{
	struct file f;
	int r = file_open(&f, root_fd, path, FILE_LONG_RECORDS);

	t->len = 0;
	if (r)
		return r;
	r = file_read(&f, t);
	file_close(&f);
	return r;
}
