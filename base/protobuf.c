/* SPDX-License-Identifier: MIT */
#include "base/protobuf.h"

#define VARINT_MAX 10
#define KEY_MAX 5

enum { WIRE_VARINT, WIRE_64, WIRE_LENGTH };

static char *put_varint(char *p, uint64_t n)
{
	for (; n >= 0x80; n >>= 7)
		*p++ = (char)(n | 0x80);
	*p++ = (char)n;
	return p;
}

/* Least significant byte first, on every machine. */
static char *put_bytes(char *p, uint64_t n, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		p[i] = (char)(n >> 8 * i);
	return p + bytes;
}

/* Where n more bytes may be written; NULL if out of memory. */
static char *room(struct buf *out, size_t n)
{
	return buf_reserve(out, n) ? NULL : out->data + out->len;
}

static void written(struct buf *out, char *end)
{
	*end = '\0';
	out->len = (size_t)(end - out->data);
}

static char *put_key(char *p, unsigned field, unsigned wire)
{
	return put_varint(p, (uint64_t)field << 3 | wire);
}

void protobuf_varint(struct buf *out, unsigned field, uint64_t n)
{
	char *p = room(out, KEY_MAX + VARINT_MAX);

	if (p)
		written(out, put_varint(put_key(p, field, WIRE_VARINT), n));
}

void protobuf_fixed64(struct buf *out, unsigned field, uint64_t n)
{
	char *p = room(out, KEY_MAX + sizeof n);

	if (p)
		written(out, put_bytes(put_key(p, field, WIRE_64), n, sizeof n));
}

static uint64_t bits_of(double n)
{
	uint64_t bits;

	memcpy(&bits, &n, sizeof bits);
	return bits;
}

void protobuf_double(struct buf *out, unsigned field, double n)
{
	protobuf_fixed64(out, field, bits_of(n));
}

void protobuf_bytes(struct buf *out, unsigned field, const void *data, size_t len)
{
	char *p = len > SIZE_MAX / 2 ? NULL : room(out, KEY_MAX + VARINT_MAX + len);

	if (!p)
		return;
	p = put_varint(put_key(p, field, WIRE_LENGTH), len);
	if (len)	/* otherwise data may be NULL */
		memcpy(p, data, len);
	written(out, p + len);
}

/* The length has one byte until it is known. */
size_t protobuf_begin(struct buf *out, unsigned field)
{
	char *p = room(out, KEY_MAX + 1);

	if (p)
		written(out, put_varint(put_key(p, field, WIRE_LENGTH), 0));
	return out->len;
}

void protobuf_end(struct buf *out, size_t begin)
{
	char length[VARINT_MAX], *p;
	size_t len, more;

	if (buf_error(out))
		return;
	len = out->len - begin;
	more = (size_t)(put_varint(length, len) - length) - 1;
	p = room(out, more);
	if (!p)
		return;
	if (more)
		memmove(out->data + begin + more, out->data + begin, len);
	memcpy(out->data + begin - 1, length, more + 1);
	written(out, p + more);
}

void protobuf_packed_varint(struct buf *out, uint64_t n)
{
	char *p = room(out, VARINT_MAX);

	if (p)
		written(out, put_varint(p, n));
}

void protobuf_packed_fixed64(struct buf *out, uint64_t n)
{
	char *p = room(out, sizeof n);

	if (p)
		written(out, put_bytes(p, n, sizeof n));
}

void protobuf_packed_double(struct buf *out, double n)
{
	protobuf_packed_fixed64(out, bits_of(n));
}
