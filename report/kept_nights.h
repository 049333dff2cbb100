/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_KEPT_NIGHTS_H
#define BUILDBEAT_REPORT_KEPT_NIGHTS_H

#include "compare/nights.h"

/*
 * Nights whose values are kept once they are loaded, for who looks at them several times:
 * all it says is that of `from`, which it points into.
 */
struct kept_nights {
	struct nights nights;
	const struct nights *from;
	float *values[METRICS];
};

/* It must stay where it is. Always release, before what it is from. */
void kept_nights_init(struct kept_nights *k, const struct nights *from);
void kept_nights_release(struct kept_nights *k);

#endif
