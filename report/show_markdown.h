/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_SHOW_MARKDOWN_H
#define BUILDBEAT_REPORT_SHOW_MARKDOWN_H

#include "analyse/output_excerpt.h"
#include "render/show.h"

/*
 * `show` as Markdown for the summary of a job on GitHub or GitLab: the verdict, facts, failed tasks with
 * their lines, and tables. It has less than SHOW_MARKDOWN_MAX bytes, GitHub's limit of a summary; rows
 * beyond that are left out. excerpt: of the build's output; it may be empty. Brings v's lists into
 * other orders. 0 or -ENOMEM.
 */
#define SHOW_MARKDOWN_MAX (1024 * 1024)

int show_markdown(struct buf *out, struct view *v, const struct show_options *o,
		  const struct output_excerpt *excerpt);

#endif
