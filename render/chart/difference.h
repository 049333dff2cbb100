/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RENDER_CHART_DIFFERENCE_H
#define BUILDBEAT_RENDER_CHART_DIFFERENCE_H

#include "base/buf.h"
#include "render/chart/palette.h"

#include <stddef.h>

/* The scale of colours by which pictures show how tasks differ in two builds. */
enum difference {
	DIFFERENCE_MUCH_LESS, DIFFERENCE_LESS,
	DIFFERENCE_NONE,	/* within the thresholds */
	DIFFERENCE_MORE, DIFFERENCE_MUCH_MORE,
	DIFFERENCE_ONLY,	/* the task is in one of the builds only */
	DIFFERENCES,
};

extern const enum colour difference_colour[DIFFERENCES];

/* From which change on it is much: a third of the largest one, rounded down to 1, 2 or 5 times a
 * power of ten. Its unit is that of the change; 0 if there is none. */
double difference_much(double largest);

/* That as a time: "2 s". */
void difference_add_time(struct buf *b, double much_us);

/* Of a change that exceeds the thresholds. */
enum difference difference_of(double change, double much);

#endif
