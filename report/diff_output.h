/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_DIFF_OUTPUT_H
#define BUILDBEAT_REPORT_DIFF_OUTPUT_H

#include "base/text.h"
#include "report/diff_view.h"

/* The outputs of diff. Return 0, the error of the buffer or -ENOMEM. */

/* For a terminal: the verdict, the build, circumstances, then the largest differences. */
int diff_text(struct buf *out, const struct diff_view *v, const struct style *style);

/* Every value of every task, with the unit in its key. */
int diff_json(struct buf *out, const struct diff_view *v);

/* A comment of a merge request. */
int diff_markdown(struct buf *out, const struct diff_view *v);

/* A page with tables that a script sorts. */
int diff_html(struct buf *out, const struct diff_view *v);

#endif
