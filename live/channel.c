/* SPDX-License-Identifier: MIT */
#include "live/channel.h"

#include "base/array.h"
#include "base/file.h"
#include "base/minmax.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RECENT_MAX ((size_t)256 << 10)	/* consumers that keep up read no file */
#define MARK_EVERY ((uint64_t)64 << 10)

struct head {
	uint32_t len, class;
	uint64_t number;
};

/* Numbers up to an offset. */
struct mark {
	uint64_t offset, number[CHANNEL_CLASSES];
};

struct part {
	int fd;
	uint64_t from, end;	/* offsets */
};

struct channel {
	uint64_t size_max;
	struct part old, new;	/* old.fd may be -1: none */
	uint64_t number[CHANNEL_CLASSES];
	size_t n_marks;
	struct mark *mark;
	struct buf recent;	/* ends at new.end */
};

static int open_unnamed(void)
{
	const char *dir = getenv("TMPDIR");
	char path[PATH_MAX];
	int fd;

	if (!dir || !*dir)
		dir = "/tmp";
	fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0)
		return fd;
	if ((size_t)snprintf(path, sizeof path, "%s/buildbeat-XXXXXX", dir) >= sizeof path)
		return -ENAMETOOLONG;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	unlink(path);
	return fd;
}

int channel_new(struct channel **out, uint64_t size_max)
{
	struct channel *c = calloc(1, sizeof *c);

	*out = c;
	if (!c)
		return -ENOMEM;
	c->size_max = size_max;
	c->old.fd = -1;
	c->new.fd = open_unnamed();
	return c->new.fd < 0 ? c->new.fd : 0;
}

void channel_free(struct channel *c)
{
	if (!c)
		return;
	file_close(c->old.fd);
	file_close(c->new.fd);
	buf_release(&c->recent);
	free_all(c->mark, c);
}

uint64_t channel_end(const struct channel *c)
{
	return c->new.end;
}

uint64_t channel_first(const struct channel *c)
{
	return c->old.fd >= 0 ? c->old.from : c->new.from;
}

static void drop_marks(struct channel *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n_marks; i++) {
		if (c->mark[i].offset >= channel_first(c))
			c->mark[n++] = c->mark[i];
	}
	c->n_marks = n;
}

/* The newer half becomes the older one, whose file is used again. */
static int turn(struct channel *c)
{
	int fd = c->old.fd >= 0 ? c->old.fd : open_unnamed();

	if (fd < 0)
		return fd;
	if (ftruncate(fd, 0)) {
		close(fd);
		c->old.fd = -1;
		return -EIO;
	}
	c->old = c->new;
	c->new = (struct part){ fd, c->old.end, c->old.end };
	drop_marks(c);
	return 0;
}

/* The disk is full: give back what we have. A consumer that has read all is before the new
 * beginning, too. */
static void lose_all(struct channel *c)
{
	file_close(c->old.fd);
	c->old.fd = -1;
	if (ftruncate(c->new.fd, 0))
		errno = 0;	/* it is written over */
	c->new.from = c->new.end = c->new.end + 1;
	buf_clear(&c->recent);
	drop_marks(c);
}

static int write_at(const struct channel *c, const struct head *h, const void *message)
{
	const struct { const void *p; size_t len; } part[] = { { h, sizeof *h }, { message, h->len } };
	uint64_t at = c->new.end - c->new.from;

	for (size_t i = 0; i < ARRAY_SIZE(part); i++) {
		for (size_t done = 0; done < part[i].len; ) {
			ssize_t n = pwrite(c->new.fd, (const char *)part[i].p + done,
					   part[i].len - done, (off_t)at);

			if (n < 0 && errno == EINTR)
				continue;
			if (n <= 0)
				return n ? -errno : -EIO;
			done += (size_t)n;
			at += (uint64_t)n;
		}
	}
	return 0;
}

static size_t frame_at(const struct buf *b, size_t at)
{
	struct head h;

	memcpy(&h, b->data + at, sizeof h);
	return sizeof h + h.len;
}

static void keep_recent(struct channel *c, const struct head *h, const void *message)
{
	size_t cut = 0;

	if (buf_error(&c->recent))
		buf_clear(&c->recent);
	buf_add(&c->recent, h, sizeof *h);
	buf_add(&c->recent, message, h->len);
	if (buf_error(&c->recent)) {
		buf_release(&c->recent);
		buf_init(&c->recent);
		return;
	}
	if (c->recent.len < RECENT_MAX)
		return;
	while (c->recent.len - cut > RECENT_MAX / 2)
		cut += frame_at(&c->recent, cut);
	memmove(c->recent.data, c->recent.data + cut, c->recent.len - cut);
	buf_cut(&c->recent, c->recent.len - cut);
}

static int add_mark(struct channel *c)
{
	struct mark *added;

	if (c->n_marks && c->new.end - c->mark[c->n_marks - 1].offset < MARK_EVERY)
		return 0;
	added = array_add(&c->mark, &c->n_marks, sizeof *added);
	if (!added)
		return -ENOMEM;
	added->offset = c->new.end;
	memcpy(added->number, c->number, sizeof added->number);
	return 0;
}

int channel_add(struct channel *c, unsigned class, uint64_t number, const void *message, size_t len)
{
	struct head h = { (uint32_t)len, class, number };
	int r = len > UINT32_MAX ? -EMSGSIZE : add_mark(c);

	if (!r && c->new.end - c->new.from + sizeof h + len > c->size_max / 2 &&
	    c->new.end > c->new.from)
		r = turn(c);
	if (!r)
		r = write_at(c, &h, message);
	if (r) {
		lose_all(c);
		r = write_at(c, &h, message);
	}
	if (class < CHANNEL_CLASSES)
		c->number[class] = number;
	if (r)
		return r;
	c->new.end += sizeof h + len;
	keep_recent(c, &h, message);
	return 0;
}

void channel_seek(const struct channel *c, struct channel_place *place)
{
	size_t low = 0, high = c->n_marks;

	while (low < high) {
		const struct mark *m = &c->mark[(low + high) / 2];
		bool before = true;

		for (size_t i = 0; i < CHANNEL_CLASSES; i++)
			before &= m->number[i] <= place->after[i];
		if (before)
			low = (low + high) / 2 + 1;
		else
			high = (low + high) / 2;
	}
	place->offset = low ? c->mark[low - 1].offset : channel_first(c);
}

static const struct part *part_of(const struct channel *c, uint64_t offset)
{
	return offset >= c->new.from ? &c->new : &c->old;
}

/* Some frames from an offset on, the first of them whole. */
static int fetch(const struct channel *c, uint64_t offset, size_t most, struct buf *out)
{
	const struct part *p = part_of(c, offset);
	size_t left = (size_t)(p->end - offset);
	size_t len = MIN(left, most);
	ssize_t n;

	if (offset + c->recent.len >= c->new.end) {
		size_t at = c->recent.len - (size_t)(c->new.end - offset);

		buf_add(out, c->recent.data + at, len);
		return buf_error(out);
	}
	if (buf_reserve(out, len))
		return buf_error(out);
	do
		n = pread(p->fd, out->data, len, (off_t)(offset - p->from));
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	out->len = (size_t)n;
	return n < (ssize_t)sizeof(struct head) ? -EIO : 0;
}

static bool is_wanted(const struct channel_place *place, const struct head *h)
{
	return h->class >= CHANNEL_CLASSES || h->number > place->after[h->class];
}

static void take_frames(struct channel_place *place, const struct buf *in, size_t most,
			struct buf *out)
{
	size_t first = out->len;
	struct head h;

	for (size_t at = 0; in->len - at >= sizeof h; at += sizeof h + h.len) {
		memcpy(&h, in->data + at, sizeof h);
		if (in->len - at - sizeof h < h.len)
			return;
		if (is_wanted(place, &h)) {
			if (out->len > first && out->len - first + h.len > most)
				return;
			buf_add(out, in->data + at + sizeof h, h.len);
		}
		place->offset += sizeof h + h.len;
	}
}

#define FETCH_LEAST ((size_t)16 << 10)

int channel_read(const struct channel *c, struct channel_place *place, size_t most, struct buf *out)
{
	size_t first = out->len;
	struct buf in = BUF_INIT;
	int r = 0;

	if (place->offset < channel_first(c)) {
		place->offset = channel_first(c);
		return -ESTALE;
	}
	/* What is left out does not count. */
	while (!r && place->offset < c->new.end && out->len == first) {
		uint64_t before = place->offset;
		size_t len = MAX(most, FETCH_LEAST);

		buf_clear(&in);
		r = fetch(c, place->offset, len, &in);
		if (!r)
			take_frames(place, &in, most, out);
		if (!r && place->offset == before) {	/* a long message */
			len = frame_at(&in, 0);
			buf_clear(&in);
			r = fetch(c, place->offset, len, &in);
			if (!r && in.len < len)
				r = -EIO;
			if (!r)
				take_frames(place, &in, most, out);
		}
		r = r ? r : buf_error(out);
	}
	buf_release(&in);
	return r;
}
