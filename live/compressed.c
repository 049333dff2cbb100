/* SPDX-License-Identifier: MIT */
#include "live/compressed.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

#define SHORT 1024		/* fits in one packet as it is */
#define GZIP_FORMAT (15 + 16)	/* windowBits of zlib.h */

/* Is the quality of one element more than 0? It begins behind the name; without one it is 1. */
static bool has_quality(const char *text, size_t len)
{
	const char *q = memchr(text, '=', len);

	if (!q)
		return true;
	for (const char *p = q + 1; p < text + len; p++) {
		if (*p >= '1' && *p <= '9')
			return true;
	}
	return false;
}

static bool is_name(const char *text, size_t len, const char *name)
{
	return strlen(name) == len && !strncasecmp(text, name, len);
}

/* RFC 9110, 12.5.3: '*' is what has no element of its own. */
bool compressed_accepted(const char *accept)
{
	bool any = false;

	for (const char *at = accept; at && *at;) {
		size_t len, name_len;

		at += strspn(at, ", \t");
		len = strcspn(at, ",");
		name_len = strcspn(at, ",; \t");
		if (is_name(at, name_len, "gzip") || is_name(at, name_len, "x-gzip"))
			return has_quality(at + name_len, len - name_len);
		if (is_name(at, name_len, "*"))
			any = has_quality(at + name_len, len - name_len);
		at += len;
	}
	return any;
}

bool compressed_pays(size_t len)
{
	return len >= SHORT;
}

int compressed_add(struct buf *out, const void *data, size_t len, enum compressed_effort effort)
{
	z_stream z = { 0 };
	int level = effort == COMPRESSED_SMALL ? Z_BEST_COMPRESSION : Z_BEST_SPEED;
	char *to;
	int r;

	if (len > UINT_MAX / 2)
		return -EFBIG;
	if (deflateInit2(&z, level, Z_DEFLATED, GZIP_FORMAT, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	z.avail_out = (uInt)deflateBound(&z, len);
	to = buf_begin(out, z.avail_out);
	if (to) {
		z.next_in = (Bytef *)data;
		z.avail_in = (uInt)len;
		z.next_out = (Bytef *)to;
		r = deflate(&z, Z_FINISH) == Z_STREAM_END ? 0 : -EIO;
		buf_end(out, r ? to : (char *)z.next_out);
	} else {
		r = buf_error(out);
	}
	deflateEnd(&z);
	return r;
}
