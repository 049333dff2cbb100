/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_KEPT_BUILDS_H
#define BUILDBEAT_REPORT_KEPT_BUILDS_H

#include "compare/builds.h"

/*
 * Builds whose values are kept once they are loaded, for who looks at them several times:
 * all it says is that of `from`, which it points into.
 */
struct kept_builds {
	struct builds builds;
	const struct builds *from;
	float *values[METRICS];
};

/* It must stay where it is. Always release, before what it is from. */
void kept_builds_init(struct kept_builds *k, const struct builds *from);
void kept_builds_release(struct kept_builds *k);

#endif
