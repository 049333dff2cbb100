#ifndef BUILDBEAT_UTF8_H
#define BUILDBEAT_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The length of the UTF-8 sequence at p, which has len bytes, at least one; 0 if there is
 * no valid one. */
size_t utf8_length(const unsigned char *p, size_t len);

/* What a reader must not get as it is: control characters (C1 too, which terminals
 * obey), what turns the direction of writing, line and paragraph separators, what is not
 * seen, and what is no character. */
bool utf8_is_unsafe(uint32_t code);

/* The sequence at p: its length and code point. What is no valid one is a byte long and
 * UTF8_BAD_BYTE + the byte, which is unsafe. */
#define UTF8_REPLACEMENT "\xef\xbf\xbd"
#define UTF8_BAD_BYTE 0x80000000u
size_t utf8_decode(const unsigned char *p, size_t len, uint32_t *code);

#endif
