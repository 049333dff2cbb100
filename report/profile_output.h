/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_PROFILE_OUTPUT_H
#define BUILDBEAT_REPORT_PROFILE_OUTPUT_H

#include "analyse/profile_view.h"
#include "write/doc.h"

/* The outputs of a profile. Each returns 0 or the buffer's error. */

/* A table of the columns (none: those that fit) on a terminal. most: rows of a group, or of a table
 * without groups; 0: 10 and 30. The lists of the view come into other orders. */
int profile_doc(struct doc *d, struct profile_view *v, const struct profile_list *columns, size_t most,
		bool all);

/* Chromium's about:profiler JSON, an object for each process, with further keys. The view is
 * grouped by processes; what names the input. most: rows of each, 0: all. */
int profile_json_write(struct buf *out, struct profile_view *v, const char *what, size_t most);

#endif

