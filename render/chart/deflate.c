/* SPDX-License-Identifier: MIT */
#include "render/chart/deflate.h"

#include <errno.h>
#include <libdeflate.h>

/* Higher ones take 7 % off the texts of a large build, for twice the time. */
#define LEVEL 1

int deflate_add(struct buf *out, const void *p, size_t n)
{
	struct libdeflate_compressor *z = libdeflate_alloc_compressor(LEVEL);
	size_t room;

	if (!z)
		return -ENOMEM;
	room = libdeflate_deflate_compress_bound(z, n);
	if (!buf_reserve(out, room))
		out->len += libdeflate_deflate_compress(z, p, n, out->data + out->len, room);
	libdeflate_free_compressor(z);
	return buf_error(out);
}
