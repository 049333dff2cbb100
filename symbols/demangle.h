/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_SYMBOLS_DEMANGLE_H
#define BUILDBEAT_SYMBOLS_DEMANGLE_H

#include "base/buf.h"

/* Add a name as its source has it: C++ and Rust (both manglings); other names unchanged. "@plt"
 * at the end remains. Longer than DEMANGLE_MAX bytes: it is cut, and ends in "...". */
#define DEMANGLE_MAX 4000

void demangle_add(struct buf *out, const char *name);

#endif
