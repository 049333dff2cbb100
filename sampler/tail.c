/* SPDX-License-Identifier: MIT */
#include "sampler/tail.h"

#include "base/file.h"
#include "recording/layout.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_CAP 65536

int tail_open(struct tail *t, int dir_fd)
{
	*t = (struct tail){ .dir_fd = dir_fd, .fd = -1, .list_fd = -1 };
	t->text.cap = TEXT_CAP;
	t->text.data = malloc(TEXT_CAP);
	t->file = calloc(TAIL_FILES, sizeof *t->file);
	if (!t->text.data || !t->file) {
		tail_close(t);
		return -ENOMEM;
	}
	t->fd = file_open_at(dir_fd, LAYOUT_TASKS, O_RDONLY);
	if (t->fd >= 0)
		t->n_files = 1;
	else
		t->list_fd = file_open_at(dir_fd, ".", O_RDONLY | O_DIRECTORY);
	return 0;
}

void tail_close(struct tail *t)
{
	file_close(t->fd);
	file_close(t->list_fd);
	free(t->text.data);
	free(t->file);
	*t = (struct tail){ .dir_fd = -1, .fd = -1, .list_fd = -1 };
}

static bool is_task_log(const char *name)
{
	size_t n = strlen(name), prefix = strlen(LAYOUT_TASKS_PREFIX);

	return n < sizeof ((struct tail_file *)0)->name && n > prefix + 4 &&
	       !strncmp(name, LAYOUT_TASKS_PREFIX "-", prefix + 1) &&
	       !strcmp(name + n - 4, ".log");
}

static bool add_file(void *ctx, const char *name)
{
	struct tail *t = ctx;

	if (!is_task_log(name))
		return true;
	for (size_t i = 0; i < t->n_files; i++)
		if (!strcmp(t->file[i].name, name))
			return true;
	if (t->n_files == TAIL_FILES)
		return false;
	strcpy(t->file[t->n_files++].name, name);
	return true;
}

/* Hand out the whole lines of the text. The number of bytes handed out. */
static size_t take_lines(struct tail_file *f, const struct root_text *text,
			 const struct tail_taker *taker)
{
	struct cursor c;
	struct slice line;
	bool complete;
	size_t taken = 0;

	root_text_cursor(text, &c);
	while (cursor_line(&c, &line, &complete) && complete) {
		if (taker->take(taker->ctx, line))
			f->closed = true;
		taken = (size_t)(c.p - text->data);
	}
	return taken;
}

static void follow_file(struct tail *t, int fd, struct tail_file *f, const struct tail_taker *taker)
{
	for (;;) {
		ssize_t n = pread(fd, t->text.data, t->text.cap, f->offset);
		size_t taken;

		if (n <= 0)
			return;
		t->text.len = (size_t)n;
		taken = take_lines(f, &t->text, taker);
		/* no line is this long: skip damaged data */
		if (!taken && t->text.len == t->text.cap)
			taken = t->text.len;
		f->offset += (int64_t)taken;
		if (t->text.len < t->text.cap)
			return;
	}
}

void tail_read(struct tail *t, const struct tail_taker *taker)
{
	if (t->fd >= 0) {
		follow_file(t, t->fd, &t->file[0], taker);
		return;
	}
	if (t->list_fd >= 0)
		root_list_names(t->list_fd, &t->text, add_file, t);
	for (size_t i = 0; i < t->n_files; i++) {
		struct tail_file *f = &t->file[i];
		int fd = f->closed ? -1 : openat(t->dir_fd, f->name, O_RDONLY | O_CLOEXEC);

		if (fd < 0)
			continue;
		follow_file(t, fd, f, taker);
		close(fd);
	}
}
