/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RENDER_CHART_AXIS_H
#define BUILDBEAT_RENDER_CHART_AXIS_H

#include "base/buf.h"

#include <stddef.h>
#include <stdint.h>

/* What the whole numbers of a chart count. */
enum axis_unit {
	AXIS_SHARE,		/* 1/10000 of the whole */
	AXIS_BYTES,
	AXIS_BYTES_A_SECOND,
	AXIS_COUNT,		/* 1/100 of a thing */
	AXIS_TIME,		/* microseconds */
};

/* "63 %", "1.4 GiB", "12 MiB/s", "3.5", "4.2 s"; "-" of what is negative. */
void axis_add_value(struct buf *b, enum axis_unit unit, int64_t value);

struct tick {
	int64_t value;
	char label[16];
};

/*
 * The top of an axis that shows values up to max (at least something above 0):
 * max rounded up to a number that divides well in its unit: 1, 2, 2.5, 4, 5, 8 ...
 * times a power of ten, of bytes 4, 6, 8 times a power of two. Shares above 80 % end at
 * 100 %.
 */
int64_t axis_ceiling(int64_t max, enum axis_unit unit);

/* Ticks from 0 to the ceiling, both included, at most `most` (>= 2) of them. */
size_t axis_ticks(struct tick *tick, size_t most, int64_t ceiling, enum axis_unit unit);

/*
 * Ticks of the time axis in [from, until], at multiples of 1, 2, 5 ... ms, s, of
 * 15 and 30 s, min, of h: at most `most` of them, with labels such as "0", "30 s", "1m 30s",
 * "5 min", "2h 05m".
 */
size_t axis_time_ticks(struct tick *tick, size_t most, int64_t from_us, int64_t until_us);

#endif
