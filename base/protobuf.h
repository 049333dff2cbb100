/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_BASE_PROTOBUF_H
#define BUILDBEAT_BASE_PROTOBUF_H

#include "base/buf.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * The only writer of protobuf's wire format: the fields of a message, one after the other, into a
 * buffer, whose sticky error is asked once at the end. A field is its number from 1 to 2^29 - 1
 * and its value; the schema says what they mean. All lengths have as few bytes as possible.
 */

/* uint32, uint64, bool, enum, and int32 or int64: a negative one converted to uint64_t. */
void protobuf_varint(struct buf *out, unsigned field, uint64_t n);
/* fixed64 and sfixed64 */
void protobuf_fixed64(struct buf *out, unsigned field, uint64_t n);
void protobuf_double(struct buf *out, unsigned field, double n);
/* bytes and string: a reader may refuse a string that is not UTF-8. */
void protobuf_bytes(struct buf *out, unsigned field, const void *p, size_t len);

static inline void protobuf_str(struct buf *out, unsigned field, const char *s)
{
	protobuf_bytes(out, field, s, strlen(s));
}

/*
 * A message as a field: its own fields are written between begin and end, and messages inside it
 * the same way. protobuf_begin() returns what protobuf_end() needs. Between the two, the buffer
 * must only grow. A message of 128 bytes or more moves by some bytes at its end.
 */
size_t protobuf_begin(struct buf *out, unsigned field);
void protobuf_end(struct buf *out, size_t begin);

/* The same for a repeated field of numbers (packed): values between begin and end. */
void protobuf_packed_varint(struct buf *out, uint64_t n);
void protobuf_packed_fixed64(struct buf *out, uint64_t n);
void protobuf_packed_double(struct buf *out, double n);

#endif
