/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_BUILD_PAGE_H
#define BUILDBEAT_REPORT_BUILD_PAGE_H

#include "report/show_output.h"

/*
 * A build as one page that needs nothing else: what `show` prints, with the first error on top, the
 * bootchart with its table of tasks, and the build's output. It loads nothing and runs no scripts but its own.
 * Of a long output it has what log_page.h says.
 *
 * The view has all tasks; o->output has the output, if there is one, which is read. 0 or a negative errno.
 */
int build_page_write(struct buf *out, struct view *v, const struct show_options *o);

#endif
