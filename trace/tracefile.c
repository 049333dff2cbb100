/* SPDX-License-Identifier: MIT */
#include "base/outfile.h"
#include "base/str.h"
#include "trace/formats.h"
#include "trace/sink.h"
#include "trace/whole.h"

#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

#define GZIP_FORMAT (15 + 16)	/* of zlib: the largest window, with gzip's header */
#define GZIP_LEVEL 4		/* 8 % larger than with 6, in half the time */
#define PACKED_SIZE ((size_t)128 << 10)

struct writing {
	struct outfile out;
	struct error *err;
	z_stream z;
	unsigned char *packed;	/* PACKED_SIZE bytes; NULL: the file is not packed */
};

static int pack(struct writing *w, struct buf *in, int how)
{
	int r = 0;

	w->z.next_in = (unsigned char *)in->data;
	w->z.avail_in = (unsigned)in->len;
	do {
		w->z.next_out = w->packed;
		w->z.avail_out = PACKED_SIZE;
		deflate(&w->z, how);
		r = outfile_add(&w->out, w->packed, PACKED_SIZE - w->z.avail_out, w->err);
	} while (!r && !w->z.avail_out);
	return r;
}

static int flush(void *context, struct buf *in)
{
	struct writing *w = context;
	int r = w->packed ? pack(w, in, Z_NO_FLUSH) :
		outfile_add(&w->out, in->data, in->len, w->err);

	buf_clear(in);
	return r;
}

static int write_events(struct writing *w, struct sink *s, const struct recording *rec)
{
	struct whole whole = { .rec = rec, .first_flow = 1, .flush = flush, .context = w };
	struct sink_start start = { rec->start_wall_ns, rec->start_mono_ns };
	int r;

	s->ops->begin(s, &start);
	r = whole_write(s, &whole);
	s->ops->end(s);
	if (!r)
		r = buf_error(&s->out);
	if (!r)
		r = w->packed ? pack(w, &s->out, Z_FINISH) : flush(w, &s->out);
	return r;
}

static int begin_packing(struct writing *w)
{
	w->packed = malloc(PACKED_SIZE);
	if (w->packed && deflateInit2(&w->z, GZIP_LEVEL, Z_DEFLATED, GZIP_FORMAT, 8,
				      Z_DEFAULT_STRATEGY) == Z_OK)
		return 0;
	free(w->packed);
	w->packed = NULL;
	return -ENOMEM;
}

/* In parts. A path that ends in .gz is packed by gzip. */
static int write_file(const struct sink_ops *ops, const struct recording *rec, const char *path,
		      struct error *err)
{
	struct writing w = { .err = err };
	struct sink s;
	int r = outfile_begin(&w.out, path, err);

	if (r)
		return r;
	r = sink_init(&s, ops);
	if (!r && str_ends(path, ".gz"))
		r = begin_packing(&w);
	if (!r)
		r = write_events(&w, &s, rec);
	if (r == -ENOMEM)
		error_sys(err, r, path, "cannot write");
	if (w.packed)
		deflateEnd(&w.z);
	free(w.packed);
	sink_release(&s);
	return outfile_end(&w.out, r, err);
}

int tracefile_chrome(const struct recording *rec, const char *path, struct error *err)
{
	return write_file(&sink_chrome, rec, path, err);
}

int tracefile_perfetto(const struct recording *rec, const char *path, struct error *err)
{
	return write_file(&sink_perfetto, rec, path, err);
}
