/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_COMPARE_KNOWN_H
#define BUILDBEAT_COMPARE_KNOWN_H

#include "analyse/metric.h"

#include <stddef.h>
#include <stdint.h>

/*
 * What people said about changes: notes on builds of the archive (refs/notes/buildbeat).
 * Accepted: from that build on this is the level, nothing before it counts.
 * Acknowledged: it is a regression, somebody looks after it: it is told but fails
 * nothing, until its figure is back at the level before.
 */
enum known_kind {
	KNOWN_ACCEPTED,
	KNOWN_ACKNOWLEDGED,
};

struct known {
	enum known_kind kind;
	uint32_t build;		/* index into builds.build */
	const char *pattern;	/* of task names, as in rules.h; "" the total */
	unsigned metrics;	/* METRIC_BIT()s */
	const char *reason;
	const char *by;		/* who */
	int64_t time_s;
};

struct known_list {
	size_t n;
	struct known *known;	/* by build, then in the order they were said */
};

/* The newest one of that kind for a task and metric on a build in [first, last]; NULL: none.
 * list may be NULL. */
const struct known *known_find(const struct known_list *list, enum known_kind kind,
			       const char *task, enum metric m, uint32_t first, uint32_t last);

#endif
