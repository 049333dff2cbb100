/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_MARKDOWN_H
#define BUILDBEAT_REPORT_MARKDOWN_H

#include "base/buf.h"

/*
 * Markdown as merge requests take it. Texts may be any bytes: what Markdown or HTML would
 * take for theirs is escaped, also within a table; control characters are shown as
 * text_add_name() does.
 */
void markdown_add(struct buf *b, const char *text);

/* A row of a table: cells that are Markdown already, "|" between them; then, below the
 * heading, the alignment of columns: 'l' or 'r' for each. */
void markdown_row(struct buf *b, const char *const *cell, size_t n);
void markdown_rule(struct buf *b, const char *columns);

#endif
