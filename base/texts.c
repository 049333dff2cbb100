/* SPDX-License-Identifier: MIT */
#include "base/texts.h"

#include "base/array.h"
#include "base/feed.h"
#include "base/file.h"
#include "base/readfile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OFFSET_BITS 44		/* 16 TiB */
#define WINDOW_LEN 8192	/* enough for nearly every line; the requested ones are far apart */

struct texts *texts_new(int dir_fd)
{
	struct texts *t = calloc(1, sizeof *t);

	if (t)
		t->window = malloc(FEED_MEMORY);
	if (!t || !t->window) {
		free(t);
		file_close(dir_fd);
		return NULL;
	}
	t->dir_fd = dir_fd;
	t->fd = -1;
	return t;
}

void texts_free(struct texts *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->n; i++) {
		free_all(t->file[i].name, t->file[i].memory);
	}
	file_close(t->fd);
	file_close(t->dir_fd);
	buf_release(&t->decoded);
	buf_release(&t->bare);
	free_all(t->file, t->window, t);
}

int texts_add(struct texts *t, const char *name, char *memory, size_t len, int fd)
{
	struct texts_file *grown = array_grow(t->file, t->n, sizeof *grown);
	char *copy = grown && fd >= 0 ? strdup(name) : NULL;

	file_close(t->fd);
	t->fd = fd;
	t->open = t->n;
	if (grown)
		t->file = grown;
	if (!grown || (fd >= 0 && !copy)) {
		free(memory);
		return -ENOMEM;
	}
	grown[t->n++] = (struct texts_file){ copy, memory, len };
	return 0;
}

char *texts_lend_window(struct texts *t)
{
	t->window_len = 0;
	return t->window;
}

text_place texts_place(const struct texts *t, uint64_t offset)
{
	uint64_t text = t->n - 1;

	if (offset >> OFFSET_BITS || text >> (63 - OFFSET_BITS))
		return 0;
	return text << OFFSET_BITS | offset;
}

text_place texts_keep(struct texts *t, const char *text, size_t len)
{
	size_t at = t->bare.len;

	buf_add(&t->bare, text, len);
	buf_addc(&t->bare, '\0');
	return buf_error(&t->bare) ? 0 : TEXT_BARE | at;
}

const char *texts_bare(const struct texts *t, text_place at)
{
	at &= ~TEXT_BARE;
	return at < t->bare.len ? t->bare.data + at : "";
}

static bool open_text(struct texts *t, size_t at)
{
	if (t->fd >= 0 && t->open == at)
		return true;
	if (!t->file[at].name || t->dir_fd < 0)
		return false;
	file_close(t->fd);
	t->fd = readfile_open(t->dir_fd, t->file[at].name);
	t->open = at;
	return t->fd >= 0;
}

/* The line at p, if it is complete. */
static bool cut_line(const char *p, size_t len, struct slice *line)
{
	const char *eol = memchr(p, '\n', len);

	if (eol)
		*line = (struct slice){ p, (size_t)(eol - p) };
	return eol;
}

static bool in_window(const struct texts *t, size_t at, uint64_t offset, struct slice *line)
{
	uint64_t from = offset - t->window_start;

	return t->window_text == at && offset >= t->window_start && from < t->window_len &&
	       cut_line(t->window + from, t->window_len - from, line);
}

static void load_window(struct texts *t, size_t at, uint64_t offset, size_t len)
{
	ssize_t n = 1;

	t->window_text = at;
	t->window_start = offset;
	t->window_len = 0;
	while (n > 0 && t->window_len < len) {
		n = pread(t->fd, t->window + t->window_len, len - t->window_len,
			  (off_t)(offset + t->window_len));
		if (n > 0)
			t->window_len += (size_t)n;
		else if (n < 0 && errno == EINTR)
			n = 1;
	}
}

bool texts_line(struct texts *t, text_place place, struct slice *line)
{
	uint64_t offset = place & ((UINT64_C(1) << OFFSET_BITS) - 1);
	size_t at = (size_t)(place >> OFFSET_BITS);
	const struct texts_file *text;

	if (!place || at >= t->n)
		return false;
	text = &t->file[at];
	if (offset < text->len)
		return cut_line(text->memory + offset, text->len - offset, line);
	offset -= text->len;
	if (in_window(t, at, offset, line))
		return true;
	if (!open_text(t, at))
		return false;
	load_window(t, at, offset, WINDOW_LEN);
	if (in_window(t, at, offset, line))
		return true;
	load_window(t, at, offset, FEED_MEMORY);
	return in_window(t, at, offset, line);
}
