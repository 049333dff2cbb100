/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ARCHIVE_COLUMNS_H
#define BUILDBEAT_ARCHIVE_COLUMNS_H

#include "base/buf.h"

#include <stddef.h>
#include <stdint.h>

/*
 * A column of an archive: a first line "buildbeat column 1 N", then two bytes for each of N values,
 * all high bytes before all low bytes, because git compresses that well. The two bytes are a
 * number c, which is 0 for -1 (unknown). Otherwise let m be the lower eleven bits of c - 1 and
 * e the upper five. The value is m if e is 0, otherwise (2048 + m) << (e - 1). Values thus
 * have twelve binary digits: they are exact up to 4095, then rounded to 1/4000. The largest
 * one also stands for larger values.
 */
void column_write(struct buf *out, const int64_t *value, size_t n);

/* The number of values, and up to n of them. Return 0, or -EINVAL if it is not a column. */
int column_count(const void *data, size_t len, size_t *n);
int column_read(const void *data, size_t len, int64_t *value, size_t n);

#endif
