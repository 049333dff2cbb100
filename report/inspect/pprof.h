/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_INSPECT_PPROF_H
#define BUILDBEAT_REPORT_INSPECT_PPROF_H

#include "base/buf.h"
#include "inspect/inspection.h"

#include <stdbool.h>

/*
 * The heap of a snapshot as profile.proto of pprof, in gzip's format. Values of a stack:
 * alloc_objects, alloc_space, inuse_objects and inuse_space; with peak, inuse_space is the
 * largest heap's and there is no inuse_objects. A sample has the label "allocator": "malloc" or
 * "mmap". 0 or -ENOMEM.
 */
int pprof_write(struct buf *out, const struct inspection *in, const struct snapshot *s, bool peak);

#endif
