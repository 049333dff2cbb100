/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ARCHIVE_SYS_H
#define BUILDBEAT_ARCHIVE_SYS_H

#include "base/buf.h"
#include "recording/recording.h"

/*
 * What a build keeps of the machine's samples: the columns that the charts' panels and the
 * totals of the host are made of, at most SYS_POINTS_MAX points a series. All disks are one,
 * and so are all interfaces. Counters keep what they had reached at each point, so sums are
 * exact and rates are means over longer stretches; of memory the point in each stretch is
 * that where least was left.
 */
#define SYS_POINTS_MAX 200

extern const char *const sys_name[];	/* proc_stat ..., ends with NULL */

/* The series of that name, thinned, as the text of a proc_*.log; nothing where rec has none.
 * 0 or -ENOMEM. */
int sys_write(struct buf *text, const struct recording *rec, const char *name);

/* Such a text becomes a series of rec, in which is an arena already; what is damaged is left
 * out and told in the warnings of rec. text is written to. 0 or a negative errno. */
int sys_read(struct recording *rec, const char *name, struct buf *text);

#endif
