/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_BASE_FIELD_H
#define BUILDBEAT_BASE_FIELD_H

#include "base/buf.h"
#include "base/cursor.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * A free text inside a line of the recording: \t \n \r \\ for these bytes, \xHH
 * for other control bytes, all other bytes unchanged, valid UTF-8 or not.
 * A text whose escaped form is longer than max is cut. It ends in \. and eight hexadecimal
 * digits, the 32-bit FNV-1a hash of the whole text, so that two texts that are cut at the same
 * place still differ. max is 16 or more.
 */
bool field_add(struct buf *b, const void *text, size_t len, size_t max);

/* The same for a text in n parts. Both return whether all of it was added. */
bool field_add_parts(struct buf *b, const struct slice *part, size_t n, size_t max);

/* How long field_add_parts() makes it: at most max. */
size_t field_parts_size(const struct slice *part, size_t n, size_t max);

/*
 * Undo the escapes in place, return the new length. A cut text ends in "~#"
 * and its hash; *cut (may be NULL) is set for it.
 */
size_t field_decode(char *text, size_t len, bool *cut);

#endif
