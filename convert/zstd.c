/* SPDX-License-Identifier: MIT */
#include "convert/zstd.h"

#include "base/file.h"
#include "base/minmax.h"
#include "recording/layout.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#define PACK_LEVEL 19
#define WINDOW_LOG_MAX 27

/* Our logs pack to a tenth or a thirtieth, at most a hundredth; whatever grows more than this
 * is not one of them. */
#define UNPACK_FREE (64u << 20)
#define UNPACK_RATIO 128
#define UNPACK_MAX (UINT64_C(4) << 30)

static uint64_t unpack_limit(size_t packed)
{
	uint64_t limit = UNPACK_FREE + (uint64_t)packed * UNPACK_RATIO;

	return MIN(limit, UNPACK_MAX);
}

/* left is 0 after the last byte of a frame has been given out, and only then: a full output buffer
 * alone does not mean that there is more. */
static int unpack_into(ZSTD_DCtx *ctx, struct buf *out, const void *packed, size_t len,
		       struct error *err)
{
	ZSTD_inBuffer in = { packed, len, 0 };
	uint64_t limit = unpack_limit(len);
	size_t chunk = ZSTD_DStreamOutSize(), left = 1;
	bool full = false;

	while (in.pos < in.size || (full && left)) {
		ZSTD_outBuffer to;

		if (out->len > limit)
			return error_set(err, -EFBIG, NULL, 0, 0,
					 "unpacks to more than %llu MB",
					 (unsigned long long)(limit >> 20));
		if (buf_reserve(out, chunk))
			return error_sys(err, buf_error(out), NULL, "cannot unpack");
		to = (ZSTD_outBuffer){ out->data + out->len, chunk, 0 };
		left = ZSTD_decompressStream(ctx, &to, &in);
		if (ZSTD_isError(left))
			return error_set(err, -EINVAL, NULL, 0, 0, "damaged: %s",
					 ZSTD_getErrorName(left));
		out->len += to.pos;
		full = to.pos == chunk;
	}
	return left ? error_set(err, -EINVAL, NULL, 0, 0, "the compressed data is truncated") : 0;
}

static int unpack(struct buf *out, const void *packed, size_t len, struct error *err)
{
	ZSTD_DCtx *ctx = ZSTD_createDCtx();
	int r;

	if (!ctx)
		return error_sys(err, -ENOMEM, NULL, "cannot unpack");
	ZSTD_DCtx_setParameter(ctx, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
	r = unpack_into(ctx, out, packed, len, err);
	ZSTD_freeDCtx(ctx);
	buf_str(out);
	return r;
}

const struct recording_codec zstd_codec = {
	.unpack = unpack,
};

/* Packing */

struct packer {
	ZSTD_CCtx *ctx;
	int in, out;
	off_t size, done;
	void *from, *to;
	size_t from_size, to_size;
};

/* Feed n bytes of p->from; 0 ends the frame. */
static int pack_chunk(struct packer *p, size_t n)
{
	ZSTD_inBuffer in = { p->from, n, 0 };
	ZSTD_EndDirective how = n ? ZSTD_e_continue : ZSTD_e_end;
	size_t left;
	int r;

	do {
		ZSTD_outBuffer to = { p->to, p->to_size, 0 };

		left = ZSTD_compressStream2(p->ctx, &to, &in, how);
		if (ZSTD_isError(left))
			return -EIO;
		r = file_write_all(p->out, p->to, to.pos);
		if (r)
			return r;
	} while (n ? in.pos < in.size : left != 0);
	return 0;
}

static int pack_all(struct packer *p, void (*tick)(void *, unsigned), void *context)
{
	for (;;) {
		ssize_t n = read(p->in, p->from, p->from_size);
		int r;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		r = pack_chunk(p, (size_t)n);
		if (r || !n)
			return r;
		p->done += n;
		if (tick && p->size)
			tick(context, (unsigned)(100 * p->done / p->size));
	}
}

static int packer_run(struct packer *p, void (*tick)(void *, unsigned), void *context)
{
	struct stat st;
	int r = -ENOMEM;

	if (fstat(p->in, &st))
		return -errno;
	p->size = st.st_size;
	p->from_size = ZSTD_CStreamInSize();
	p->to_size = ZSTD_CStreamOutSize();
	p->from = malloc(p->from_size);
	p->to = malloc(p->to_size);
	p->ctx = ZSTD_createCCtx();
	if (p->from && p->to && p->ctx) {
		ZSTD_CCtx_setParameter(p->ctx, ZSTD_c_compressionLevel, PACK_LEVEL);
		ZSTD_CCtx_setParameter(p->ctx, ZSTD_c_checksumFlag, 1);
		ZSTD_CCtx_setPledgedSrcSize(p->ctx, (unsigned long long)st.st_size);
		r = pack_all(p, tick, context);
	}
	ZSTD_freeCCtx(p->ctx);
	free(p->to);
	free(p->from);
	return r;
}

int zstd_pack(int dir_fd, const char *name, void (*tick)(void *context, unsigned percent),
	      void *context, struct error *err)
{
	char packed[NAME_MAX], beside[NAME_MAX];
	struct packer p = { 0 };
	struct stat st;
	int r;

	snprintf(packed, sizeof packed, "%.200s" LAYOUT_ZSTD_SUFFIX, name);
	snprintf(beside, sizeof beside, "%.200s.tmp", packed);
	p.in = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);
	if (p.in < 0)
		return error_sys(err, -errno, name, "cannot compress");
	p.out = openat(dir_fd, beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (p.out >= 0 && !fstat(p.in, &st))
		fchmod(p.out, st.st_mode & 0777);
	r = p.out < 0 ? -errno : packer_run(&p, tick, context);
	if (p.out >= 0 && close(p.out) && !r)
		r = -errno;
	close(p.in);
	if (!r && renameat(dir_fd, beside, dir_fd, packed))
		r = -errno;
	if (!r && unlinkat(dir_fd, name, 0))
		r = -errno;
	if (r)
		unlinkat(dir_fd, beside, 0);
	return r ? error_sys(err, r, name, "cannot compress") : 0;
}
