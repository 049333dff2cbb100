/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_WRITE_MARKDOWN_H
#define BUILDBEAT_WRITE_MARKDOWN_H

#include "base/buf.h"

/*
 * Markdown for merge requests. Text that is special in Markdown, its tables or HTML is escaped;
 * control characters are shown as by text_add_name(). What GitHub and GitLab make links or
 * pictures, such as @NAME, #1 and :smile:, remains text.
 */
void markdown_add(struct buf *b, const char *text);

/* The same in at most so many columns (0: no limit), shortened in the middle. */
void markdown_add_short(struct buf *b, const char *text, size_t columns);

/* The same as code: the name of a task, a file or a command. Not between backquotes, where nothing can
 * be escaped; GitHub and GitLab look for no people and issues in it. */
void markdown_add_name(struct buf *b, const char *name, size_t columns);

/* Whole lines as a block of code that no line in it can end. */
void markdown_add_block(struct buf *b, const struct buf *lines);

#endif
