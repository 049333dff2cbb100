/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_PAGE_PARTS_H
#define BUILDBEAT_REPORT_PAGE_PARTS_H

#include "report/html.h"
#include "report/page.h"

/* The parts of a report, in their order. */
void part_header(struct markup *h, const struct page *p);
void part_verdict(struct markup *h, const struct page *p);
void part_events(struct markup *h, const struct page *p);

/* What the script reads: 0 or -ENOMEM. */
int part_data(struct markup *h, const struct page *p);

/* "2026-11-20"; and each revision of it, in short. */
void add_build_day(struct buf *b, const struct builds *builds, uint32_t build);
void add_build_revisions(struct buf *b, const struct builds *builds, uint32_t build);

/* What a task is called, "" for the build: never empty. */
const char *task_words(const struct builds *builds, uint32_t task);

/* Cells of a row: the task, which leads to its trends, and its figures. */
void cell_task(struct markup *h, const struct page *p, uint32_t task, enum metric m);
void cell_amount(struct markup *h, enum metric m, double value);
void cell_change(struct markup *h, enum metric m, double before, double after, double effect);
void cell_rate(struct markup *h, double rate);

/* A row of heads; those that begin with '#' are of numbers. */
void row_of_heads(struct markup *h, const char *const *head, size_t n);

#endif
