/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_AMOUNT_READ_H
#define BUILDBEAT_REPORT_AMOUNT_READ_H

#include "analyse/metric.h"

#include <stdbool.h>

/*
 * Figures as people write them, on a command line and in the configuration. False for
 * what is none; then nothing is set.
 */

/* "5%", "5 %", "0.05": a share from 0 on. */
bool amount_read_share(double *share, const char *text);

struct amount {
	double value;
	enum unit unit;		/* UNIT_US, UNIT_BYTES; UNIT_COUNT of a bare number */
};

/* "2s", "1.5 min", "16 MiB"; in us, ms, s, min, h, B, KiB, MiB, GiB. */
bool amount_read(struct amount *amount, const char *text);

/* The same in another unit; false where that is no unit of it. Nothing is so in each. */
bool amount_in(double *value, const struct amount *amount, enum unit unit);

#endif
