/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_LOG_PAGE_H
#define BUILDBEAT_REPORT_LOG_PAGE_H

#include "analyse/output.h"
#include "analyse/summary.h"
#include "report/html.h"

/*
 * The build's output as a page, or a part of one. Successive lines of one task are a block with its name,
 * which is a link to the task in the chart. #tN is the first block of the task that has the number N in the
 * chart. A page of more than LOG_PAGE_MAX bytes is too large for a browser: after these it has the lines of
 * failed tasks only, and after twice as many none. The output's last LOG_PAGE_END bytes are there in any case.
 */
#define LOG_PAGE_MAX (4u << 20)
#define LOG_PAGE_END (512u << 10)

struct log_page {
	const char *chart;	/* the address of the chart: "" if it is on the page */
	const struct summary *sum;
	const struct output_tasks *tasks;
	uint32_t *number;	/* of each task in the chart; NO_INDEX: it did not run */
	bool *shown;		/* of each task: it has a block */
	struct buf body;
	struct markup h;
	bool in_block;
	uint32_t block_task;
	bool skipped;		/* the line, of which parts follow, is left out */
	uint64_t end;		/* of the output, in bytes */
	uint64_t n_omitted, n_gap;	/* lines that are left out; before the next one that is not */
};

/* A page of its own, of lines of `o` that the caller selects, beside the chart. 0 or a negative errno. Always
 * release. */
int log_page_begin(struct log_page *p, const struct summary *sum, const struct output_tasks *tasks, struct output *o);
void log_page_add(struct log_page *p, const struct output_line *line, uint32_t task);
/* 0 or a negative errno. */
int log_page_end(struct log_page *p, struct buf *out);
void log_page_release(struct log_page *p);

/* A page of all lines beside the chart. 0 or a negative errno. */
int log_page_write(struct buf *out, const struct summary *sum, const struct output_tasks *tasks,
		   struct output *o);

/* The same within a page that has the chart; the page takes page_log_css and page_log_js. */
int log_page_part(struct markup *h, const struct summary *sum, const struct output_tasks *tasks, struct output *o);

#endif
