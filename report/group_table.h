/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_GROUP_TABLE_H
#define BUILDBEAT_REPORT_GROUP_TABLE_H

#include "analyse/groups.h"
#include "write/doc.h"

/*
 * A table of groups: their number of tasks, values and the share of the total. The first `top` by
 * key (VALUE_SORTS: the usual one), everything else in one row, and the total. No further group is
 * listed when the output has `limit` bytes.
 */
void group_table(struct doc *d, struct groups *g, enum value key, size_t top, size_t limit);

#endif
