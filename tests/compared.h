/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_TESTS_COMPARED_H
#define BUILDBEAT_TESTS_COMPARED_H

#include "compare/pairs.h"
#include "render/chart/chart.h"

/* A build and the one to compare it with, for a chart. */
struct compared {
	struct pairs pairs;
	struct chart_other other;
};

/* Fails the running test. Returns &c->other; NULL if base is NULL. Always release. */
const struct chart_other *compared_make(struct compared *c, const struct summary *base,
					const struct summary *now);
void compared_release(struct compared *c);

#endif
