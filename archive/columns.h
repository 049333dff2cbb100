/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ARCHIVE_COLUMNS_H
#define BUILDBEAT_ARCHIVE_COLUMNS_H

#include "base/buf.h"

#include <stddef.h>
#include <stdint.h>

/*
 * A column of an archive: a first line "buildbeat column 1 N", then for each of N values two
 * bytes, all high ones before all low ones, which git then compresses. They are a number c: 0
 * for -1, not known; else with m the lower eleven bits of c - 1 and e the upper five, m for e
 * 0 and (2048 + m) << (e - 1) for others. So a value is kept to twelve binary digits: to a
 * four-thousandth, exactly up to 4095; what is beyond the largest becomes it.
 */
void column_write(struct buf *out, const int64_t *value, size_t n);

/* The number of values; then up to n of them. 0 or -EINVAL for what is no column. */
int column_count(const void *data, size_t len, size_t *n);
int column_read(const void *data, size_t len, int64_t *value, size_t n);

#endif
