/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_AMOUNT_H
#define BUILDBEAT_REPORT_AMOUNT_H

#include "analyse/metric.h"
#include "base/buf.h"

/* Figures in the words of all verdicts: text, Markdown, HTML. Not known is "-". */

/* "12.3 s", "1.4 GiB", "17", "exit 2", "SIGKILL", "unfinished". */
void amount_add(struct buf *b, enum unit unit, double value);

/* The same with a sign: "+1.2 s", "-14 MiB", "0 B". */
void amount_add_change(struct buf *b, enum unit unit, double value);

/* A share with a sign: "+4.1 %", "-32 %", "x 3.1" from twice as much on, "new" of infinity. */
void amount_add_share(struct buf *b, double share);

/* "2026-11-20", in UTC; "-" for -1. */
void amount_add_day(struct buf *b, int64_t time_s);

#endif
