/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_DIFF_OUTPUT_H
#define BUILDBEAT_REPORT_DIFF_OUTPUT_H

#include "report/diff_view.h"
#include "write/doc.h"

/* The outputs of diff. Return 0, the error of the buffer or -ENOMEM. */

/* For people. The page has a beginning of its own and calls it too. */
int diff_doc(struct doc *d, const struct diff_view *v);

/* Every value of every task, with the unit in its key. */
int diff_json(struct buf *out, const struct diff_view *v);

/* A page with tables that a script sorts. */
int diff_html(struct buf *out, const struct diff_view *v);

#endif
