/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_SPARKLINE_H
#define BUILDBEAT_REPORT_SPARKLINE_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * A series as one line of text of at most `columns` characters. A character is the median of its builds,
 * between the lowest and the highest one; blank without values. The height is at least two
 * fifths of the usual value, so that noise looks like noise. Returns 0 or -ENOMEM.
 */
int sparkline_add(struct buf *b, const double *values, size_t n, size_t columns, bool ascii);

#endif
