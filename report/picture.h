/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_PICTURE_H
#define BUILDBEAT_REPORT_PICTURE_H

#include "base/buf.h"

#include <stddef.h>

struct recording;

/*
 * The bootchart of a build in a report: bootchart.svg, deflated (RFC 1951), in characters that need no
 * escaping (pack_chart.h).
 */
struct picture {
	struct buf packed;
	size_t n_deflated;	/* deflated bytes in packed */
	int width, height;	/* of the static picture, in pixels */
};

/* The time axis ends at until_us or later. Returns 0 or a negative errno. Always release. */
int picture_make(struct picture *p, const struct recording *rec, int64_t until_us);
void picture_release(struct picture *p);

#endif
