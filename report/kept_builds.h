/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_KEPT_BUILDS_H
#define BUILDBEAT_REPORT_KEPT_BUILDS_H

#include "compare/builds.h"

/*
 * Builds that keep the values of a metric once they are loaded, for several users. Everything else is
 * that of `from`.
 */
struct kept_builds {
	struct builds builds;
	const struct builds *from;
	float *values[METRICS];
};

/* k must not move. Always release, before `from`. */
void kept_builds_init(struct kept_builds *k, const struct builds *from);
void kept_builds_release(struct kept_builds *k);

#endif
