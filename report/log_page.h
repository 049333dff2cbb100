/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_LOG_PAGE_H
#define BUILDBEAT_REPORT_LOG_PAGE_H

#include "analyse/output.h"
#include "analyse/summary.h"
#include "report/html.h"

/*
 * The build's output as a page. Successive lines of one task are a block with its name, which is
 * a link to the task in the chart beside the page. #tN is the first block of the task that has
 * the number N in the chart. A page of more than LOG_PAGE_MAX bytes is too large for a browser: after
 * these it has the lines of failed tasks only, and after twice as many none.
 */
#define LOG_PAGE_MAX (16u << 20)

struct log_page {
	const struct html_site *site;	/* NULL: a file */
	const struct summary *sum;
	const struct output_tasks *tasks;
	uint32_t *number;	/* of each task in the chart; NO_INDEX: it did not run */
	bool *shown;		/* of each task: it has a block */
	struct buf body;
	struct markup h;
	bool in_block;
	uint32_t block_task;
	bool skipped;		/* the line, of which parts follow, is left out */
	uint64_t n_omitted;
};

/* 0 or -ENOMEM. Always release. */
int log_page_begin(struct log_page *p, const struct summary *sum, const struct output_tasks *tasks,
		   const struct html_site *site);
void log_page_add(struct log_page *p, const struct output_line *line, uint32_t task);
/* 0 or a negative errno. */
int log_page_end(struct log_page *p, struct buf *out);
void log_page_release(struct log_page *p);

/* A page of all lines. 0 or a negative errno. */
int log_page_write(struct buf *out, const struct summary *sum, const struct output_tasks *tasks,
		   struct output *o, const struct html_site *site);

#endif
