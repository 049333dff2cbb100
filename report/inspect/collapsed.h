/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_INSPECT_COLLAPSED_H
#define BUILDBEAT_REPORT_INSPECT_COLLAPSED_H

#include "base/buf.h"
#include "inspect/call_tree.h"

#include <stdbool.h>

/*
 * The live bytes of a snapshot, or those of the largest heap, as the collapsed stacks that
 * flamegraph.pl and speedscope read: a line "OUTERMOST;...;INNERMOST BYTES" for each stack of
 * functions, in the order of the tree. A semicolon in a name becomes a colon. 0 or -ENOMEM.
 */
int collapsed_write(struct buf *out, const struct call_tree *t, const struct snapshot *s, bool peak);

#endif
