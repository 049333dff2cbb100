/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_SPARKLINE_H
#define BUILDBEAT_REPORT_SPARKLINE_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * A series in one line of text, of columns characters at most: each stands for the median of
 * the builds that share it, from the lowest to the highest one; a fifth of the usual value
 * is the least that fills the whole height, so that noise looks like noise. Where there is
 * no value it is blank. 0 or -ENOMEM.
 */
int sparkline_add(struct buf *b, const double *values, size_t n, size_t columns, bool ascii);

#endif
