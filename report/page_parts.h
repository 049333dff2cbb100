/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_PAGE_PARTS_H
#define BUILDBEAT_REPORT_PAGE_PARTS_H

#include "report/html.h"
#include "report/page.h"

/* The parts of a report, in their order. */
void page_part_header(struct markup *h, const struct page *p);
void page_part_verdict(struct markup *h, const struct page *p);
void page_part_events(struct markup *h, const struct page *p);

/* What the script reads: 0 or -ENOMEM. */
int page_part_data(struct markup *h, const struct page *p);

/* Each revision of a build, abbreviated. */
void page_add_build_revisions(struct buf *b, const struct builds *builds, uint32_t build);

/* Cells of a row: the task, which leads to its trends, and its values. */
void page_cell_task(struct markup *h, const struct page *p, uint32_t task, enum metric m);
void page_cell_amount(struct markup *h, enum metric m, double value);
void page_cell_change(struct markup *h, enum metric m, double before, double after, double effect);
void page_cell_rate(struct markup *h, double rate);

/* A row of heads; those that begin with '#' are of numbers. */
void page_row_of_heads(struct markup *h, const char *const *head, size_t n);

#endif
