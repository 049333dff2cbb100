/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ARCHIVE_SYS_H
#define BUILDBEAT_ARCHIVE_SYS_H

#include "base/buf.h"
#include "recording/recording.h"

/*
 * The archived samples of the machine: the columns for charts and for the totals of the host, with at
 * most SYS_POINTS_MAX points for each series. All disks are added up, and all interfaces.
 * Counters keep their values at the points, so sums are exact and rates are means over longer
 * intervals. For memory the point with the least free memory is selected.
 */
#define SYS_POINTS_MAX 200

extern const char *const sys_name[];	/* "proc_stat" ..., ends with NULL */

/* Adds the thinned series of that name as the text of a proc_*.log; nothing if rec does not have
 * it. Returns 0 or -ENOMEM. */
int sys_write(struct buf *text, const struct recording *rec, const char *name);

/* Adds such a text as a series to rec, which has its arena already. Damaged lines are skipped with a
 * warning in rec. text is modified. Returns 0 or a negative errno. */
int sys_read(struct recording *rec, const char *name, struct buf *text);

#endif
