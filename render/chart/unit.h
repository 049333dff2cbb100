/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RENDER_CHART_UNIT_H
#define BUILDBEAT_RENDER_CHART_UNIT_H

#include "base/buf.h"

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

#endif
