/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_TRACE_COUNTERS_H
#define BUILDBEAT_TRACE_COUNTERS_H

#include "analyse/summary.h"
#include "trace/whole.h"

/* The samples of a recording as counters of the machine: each column, with counts as rates per
 * second; the memory of all tasks; how many tasks ran. 0 or what whole_flush() returned. */
int counters_write(struct sink *s, const struct summary *summary, const struct whole *w);

#endif
