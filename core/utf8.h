#ifndef BUILDBEAT_UTF8_H
#define BUILDBEAT_UTF8_H

#include <stddef.h>

/* The length of the UTF-8 sequence at p, which has len bytes, at least one; 0 if there is
 * no valid one. */
size_t utf8_length(const unsigned char *p, size_t len);

#endif
