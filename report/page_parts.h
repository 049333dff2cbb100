/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_PAGE_PARTS_H
#define BUILDBEAT_REPORT_PAGE_PARTS_H

#include "report/html.h"
#include "report/page.h"

/* The parts of a report, in this order. */
void page_part_header(struct markup *h, const struct page *p);
void page_part_verdict(struct markup *h, const struct page *p);
void page_part_events(struct markup *h, const struct page *p);

/* The data for the script. Returns 0 or -ENOMEM. */
int page_part_data(struct markup *h, const struct page *p);

/* All revisions of a build, abbreviated. */
void page_add_build_revisions(struct buf *b, const struct builds *builds, uint32_t build);

/* Cells of a row: the task, which links to its trends; before, after and two of the change. */
void page_cell_shared(struct markup *h, const struct page *p, const struct shared_group *group, uint32_t tasks,
		      uint32_t of, enum metric m);
void page_cell_task(struct markup *h, const struct page *p, uint32_t task, enum metric m);
void page_cells_change(struct markup *h, uint32_t task, enum metric m, double before,
		       double after, double effect);
void page_cell_rate(struct markup *h, double rate);

/* ": REASON" of a note, if there is one. */
void page_add_reason(struct markup *h, const struct known *known);
void page_add_overdue(struct markup *h, const struct known *known);

/* A row of headings; those that begin with '#' are of numbers. */
void page_row_of_heads(struct markup *h, const char *const *head, size_t n);

#endif
