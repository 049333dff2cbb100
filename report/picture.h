/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_PICTURE_H
#define BUILDBEAT_REPORT_PICTURE_H

#include "base/buf.h"

#include <stddef.h>

struct recording;

/*
 * The bootchart of a build within a report: bootchart.svg as it is, deflated (RFC 1951), in
 * characters that need no escaping (pack.h).
 */
struct picture {
	struct buf packed;
	size_t n_deflated;	/* bytes packed are */
	int width, height;	/* of the static picture, in pixels */
};

/* 0 or a negative errno. Always release. */
int picture_make(struct picture *p, const struct recording *rec);
void picture_release(struct picture *p);

#endif
