/* SPDX-License-Identifier: MIT */
#include "trace/live_follow.h"

#include "base/array.h"
#include "base/cursor.h"
#include "base/file.h"
#include "base/minmax.h"
#include "base/str.h"
#include "recording/growing.h"
#include "trace/live.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <zlib.h>

/* Events are written in batches: each wakeup costs as much as some tens of tasks. */
#define NAP_MS 100
#define PIECE ((size_t)64 << 10)

#define GZIP_FORMAT (15 + 16)	/* of zlib: the largest window, with gzip's header */
#define GZIP_LEVEL 4

struct following {
	const struct live_follow *f;
	struct sink sink;
	struct live *live;
	struct growing *growing;
	bool write_failed;
	bool packs;		/* z is in use */
	z_stream z;
};

static int write_bytes(struct following *w, const char *p, size_t len)
{
	int r = file_write_all(w->f->fd, p, len);

	w->write_failed |= r != 0;
	if (!r && w->f->written)
		atomic_fetch_add(w->f->written, len);
	return r;
}

static int pack(struct following *w, const struct buf *out, int how)
{
	unsigned char packed[4096];
	int r = 0;

	w->z.next_in = (unsigned char *)out->data;
	w->z.avail_in = (unsigned)out->len;
	do {
		w->z.next_out = packed;
		w->z.avail_out = sizeof packed;
		deflate(&w->z, how);
		r = write_bytes(w, (const char *)packed, sizeof packed - w->z.avail_out);
	} while (!r && !w->z.avail_out);
	return r;
}

static int write_out(void *context, struct buf *out)
{
	struct following *w = context;
	int r = buf_error(out);

	if (!r && w->packs)
		r = pack(w, out, Z_SYNC_FLUSH);
	for (size_t at = 0; at < out->len && !r && !w->packs; at += PIECE)
		r = write_bytes(w, out->data + at, MIN(out->len - at, PIECE));
	buf_clear(out);
	return r;
}

/* False: nobody reads the trace any more. */
static bool nap(const struct following *w)
{
	struct pollfd out = { .fd = w->f->fd };

	return poll(&out, 1, NAP_MS) <= 0 || !(out.revents & (POLLERR | POLLHUP));
}

static int follow(struct following *w, struct error *err)
{
	int r;

	do {
		/* what is appended before this is set is read now */
		bool final = w->f->final && atomic_load(w->f->final);

		r = growing_read(w->growing, err);
		live_settle(w->live);
		if (r >= 0 && w->sink.out.len) {
			int error = write_out(w, &w->sink.out);

			r = error ? error : r;
		}
		if (final && r > 0)
			r = 0;
		if (r > 0 && !nap(w)) {
			w->write_failed = true;
			r = -EPIPE;
		}
	} while (r > 0);
	if (!r)
		r = live_end(w->live, growing_damage(w->growing)->lines);
	if (!r)
		r = w->packs ? pack(w, &w->sink.out, Z_FINISH) : write_out(w, &w->sink.out);
	return r;
}

static int begin_packing(struct following *w)
{
	if (deflateInit2(&w->z, GZIP_LEVEL, Z_DEFLATED, GZIP_FORMAT, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	w->packs = true;
	return 0;
}

int live_follow(const struct live_follow *f, struct error *err)
{
	struct following w = { .f = f };
	int r = sink_init(&w.sink, f->format);

	if (!r && f->packed)
		r = begin_packing(&w);
	if (!r)
		r = live_new(&w.live, &w.sink, write_out, &w);
	if (r)
		error_sys(err, r, f->path, "cannot follow");
	else
		r = growing_open(&w.growing, f->path, f->codec, &live_growing, w.live, err);
	if (!r) {
		r = follow(&w, err);
		if (r && w.write_failed)
			error_sys(err, r, NULL, "cannot write the trace");
	}
	growing_close(w.growing);
	live_free(w.live);
	sink_release(&w.sink);
	if (w.packs)
		deflateEnd(&w.z);
	return r;
}

static const struct live_format {
	const char *word, *suffix;
	const struct sink_ops *sink;
} formats[] = {
	{ "chrome", ".json", &sink_chrome },
	{ "perfetto", ".pftrace", &sink_perfetto },
};

const struct sink_ops *live_format_of_file(const char *path)
{
	size_t len = strlen(path), gz = str_ends(path, ".gz") ? strlen(".gz") : 0;

	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		if (slice_ends((struct slice){ path, len - gz }, formats[i].suffix))
			return formats[i].sink;
	}
	return formats[0].sink;
}

const struct sink_ops *live_format(const char *word)
{
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		if (!strcmp(word, formats[i].word))
			return formats[i].sink;
	}
	return NULL;
}
