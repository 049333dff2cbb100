/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_DIFF_OUTPUT_H
#define BUILDBEAT_REPORT_DIFF_OUTPUT_H

#include "base/text.h"
#include "report/diff_view.h"

/* The outputs of diff. 0, the buffer's error or -ENOMEM. */

/* For a terminal: the verdict, the build, circumstances, then the largest differences. */
int diff_text(struct buf *out, const struct diff_view *v, const struct style *style);

/* Every figure of every task, with the unit in its key. */
int diff_json(struct buf *out, const struct diff_view *v);

/* A comment of a merge request. */
int diff_markdown(struct buf *out, const struct diff_view *v);

/* A page on its own, whose tables sort where there is script. */
int diff_html(struct buf *out, const struct diff_view *v);

#endif
