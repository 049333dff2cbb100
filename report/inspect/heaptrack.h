/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_INSPECT_HEAPTRACK_H
#define BUILDBEAT_REPORT_INSPECT_HEAPTRACK_H

#include "base/buf.h"
#include "inspect/call_tree.h"

/*
 * The heap of a snapshot as heaptrack_print prints one: the functions with most allocations, most
 * memory when the heap was largest, most live memory ("leaked" in the last snapshot) and most
 * temporary allocations. Each has its largest backtraces. Sizes are in units of 1000 bytes, as heaptrack's. 0 or -ENOMEM.
 */
int heaptrack_write(struct buf *out, const struct inspection *in, const struct call_tree *t,
		    const struct snapshot *s);

#endif
