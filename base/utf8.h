/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_BASE_UTF8_H
#define BUILDBEAT_BASE_UTF8_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The length of the UTF-8 sequence at p, which has len bytes, at least one; 0 if there is
 * no valid one. */
size_t utf8_length(const unsigned char *p, size_t len);

/* Code points that must be escaped before they are shown: control characters (also C1, which
 * terminals obey), characters that change the direction of writing, line and paragraph
 * separators, invisible characters and noncharacters. */
bool utf8_is_unsafe(uint32_t code);

/* Decode the sequence at p: returns its length, sets its code point. An invalid one has length 1
 * and the code UTF8_BAD_BYTE + the byte, which is unsafe. */
#define UTF8_REPLACEMENT "\xef\xbf\xbd"
#define UTF8_BAD_BYTE 0x80000000u
size_t utf8_decode(const unsigned char *p, size_t len, uint32_t *code);

/* A text with UTF8_REPLACEMENT for each invalid byte, and its length: the text itself, or a copy in
 * the buffer, which is cleared before. */
const char *utf8_repaired(struct buf *copy, const char *s, size_t *len);

#endif
