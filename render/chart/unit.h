/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RENDER_CHART_UNIT_H
#define BUILDBEAT_RENDER_CHART_UNIT_H

#include "base/buf.h"

#include <stdint.h>

/* What the whole numbers of a chart count. */
enum unit {
	UNIT_SHARE,		/* 1/10000 of the whole */
	UNIT_BYTES,
	UNIT_BYTES_A_SECOND,
	UNIT_COUNT,		/* 1/100 of a thing */
	UNIT_TIME,		/* microseconds */
};

/* "63 %", "1.4 GiB", "12 MiB/s", "3.5", "4.2 s"; "-" of what is negative. */
void unit_add(struct buf *b, enum unit unit, int64_t value);

#endif
