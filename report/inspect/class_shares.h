/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_INSPECT_CLASS_SHARES_H
#define BUILDBEAT_REPORT_INSPECT_CLASS_SHARES_H

#include "base/buf.h"
#include "inspect/classify.h"

/* What a value of all classes is made of, in words. */
struct class_shares {
	const struct classes *c;
	unsigned value;
	size_t snapshot;
	size_t since;		/* what it grew by since this snapshot; SIZE_MAX: the value itself */
};

/*
 * Add the largest classes, and what has most of each large one:
 *
 *	: 86 % garbage-collected memory (make_node 23 %, copy_node 14 %), 8.7 % program.
 *
 * All are shares of the whole. Without a whole it is only the full stop.
 */
void class_shares_add(struct buf *out, const struct class_shares *s);

#endif
