/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_AMOUNT_H
#define BUILDBEAT_REPORT_AMOUNT_H

#include "analyse/metric.h"
#include "base/buf.h"

#include <stdbool.h>

/* Values as text, the same in all reports. An unknown value is "-". */

/* "us", "kb" ..., for JSON. */
extern const char *const amount_unit_word[];

/* "12.3 s", "1.4 GiB", "17", "exit 2", "SIGKILL", "unfinished". */
void amount_add(struct buf *b, enum unit unit, double value);

/* The same with a sign: "+1.2 s", "-14 MiB", "0 B". */
void amount_add_change(struct buf *b, enum unit unit, double value);

/* A share with a sign: "+4.1 %", "-32 %", "x 3.1" if at least doubled, "new" for infinity. */
void amount_add_share(struct buf *b, double share);

/* The interval of a share, in the unit of that: "+18 % to +24 %", "x 1.98 to 2.31". */
void amount_add_interval(struct buf *b, double share, double low, double high);

/* "2026-11-20", in UTC; "-" for -1. */
void amount_add_day(struct buf *b, int64_t time_s);

/* Values that people write in options and in the configuration. These return false, and set
 * nothing, for an invalid text. */

/* "5%", "5 %" or "0.05": a share of at least 0. */
bool amount_read_share(double *share, const char *text);

struct amount {
	double value;
	enum unit unit;		/* UNIT_US, UNIT_BYTES, or UNIT_COUNT for a bare number */
};

/* "2s", "1.5 min", "16 MiB"; units are us, ms, s, min, h, B, KiB or K, MiB, GiB. */
bool amount_read(struct amount *amount, const char *text);

/* A time: an amount in this unit; a bare number has seconds. */
bool amount_read_time(int64_t *us, const char *text);

/* Converts to another unit; false if that is impossible. 0 has every unit. */
bool amount_in(double *value, const struct amount *amount, enum unit unit);

#endif
