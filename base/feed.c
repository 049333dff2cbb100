/* SPDX-License-Identifier: MIT */
#include "base/feed.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void feed_init(struct feed *f, const char *text, size_t len, int fd, char *memory)
{
	struct stat st;

	*f = (struct feed){ .p = text, .end = text ? text + len : NULL, .size = len, .fd = fd,
			    .memory = memory };
	if (fd >= 0 && !fstat(fd, &st) && st.st_size > 0)
		f->size += (uint64_t)st.st_size;
}

/* Move the rest to the front and read more after it. False at the end of the file. */
static bool refill(struct feed *f)
{
	size_t left = (size_t)(f->end - f->p);
	ssize_t n;

	if (f->fd < 0)
		return false;
	if (left)
		memmove(f->memory, f->p, left);
	do {
		n = read(f->fd, f->memory + left, FEED_CHUNK);
	} while (n < 0 && errno == EINTR);
	f->p = f->memory;
	f->end = f->memory + left;
	if (n > 0) {
		f->end += n;
		return true;
	}
	f->error = n < 0 ? -errno : 0;
	f->fd = -1;
	return false;
}

static void pass(struct feed *f, const char *p)
{
	f->offset += (uint64_t)(p - f->p);
	f->p = p;
}

/* The line is incomplete or too long. */
static enum feed_line long_line(struct feed *f, struct slice *line)
{
	size_t searched = 0;
	bool too_long = false;
	const char *eol = NULL;

	do {
		if (f->p != f->end)
			eol = memchr(f->p + searched, '\n', (size_t)(f->end - f->p) - searched);
		if (eol)
			break;
		if (f->end - f->p > FEED_LINE_MAX) {
			too_long = true;
			pass(f, f->end);
		}
		searched = (size_t)(f->end - f->p);
	} while (refill(f));
	if (!eol && f->p == f->end && !too_long)
		return FEED_END;
	f->line++;
	*line = (struct slice){ f->p, (size_t)((eol ? eol : f->end) - f->p) };
	pass(f, eol ? eol + 1 : f->end);
	if (!eol)
		return FEED_TORN;
	return too_long || line->len > FEED_LINE_MAX ? FEED_TOO_LONG : FEED_WHOLE;
}

enum feed_line feed_line(struct feed *f, struct slice *line)
{
	const char *eol = f->p != f->end ? memchr(f->p, '\n', (size_t)(f->end - f->p)) : NULL;

	if (!eol || eol - f->p > FEED_LINE_MAX)
		return long_line(f, line);
	f->line++;
	*line = (struct slice){ f->p, (size_t)(eol - f->p) };
	pass(f, eol + 1);
	return FEED_WHOLE;
}

size_t feed_expect(const struct feed *f, size_t n)
{
	uint64_t part = f->size >> 10, read = f->offset >> 10;

	return read && read < part ? (size_t)(n * part / read + n / 8) : n;
}

bool feed_at_end(struct feed *f)
{
	return f->p == f->end && !refill(f);
}
