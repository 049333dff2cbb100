/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_EVENTS_H
#define BUILDBEAT_REPORT_EVENTS_H

#include "compare/verdict.h"

/*
 * What a report tells since when: the events of history, and what check found of the newest
 * builds that is no change point yet, together by the build since when it is.
 */
struct report_change {
	uint32_t task;		/* index into builds.task, TASK_TOTAL or TASK_HOST */
	enum metric metric;
	bool worse, creep;
	double before, after;	/* in the metric's unit */
	double effect, rate;
	const struct verdict_finding *finding;	/* what check says of it, or NULL */
	const struct known *known;
};

struct report_event {
	uint32_t at, first, last;	/* builds */
	bool worse, host;
	size_t first_change, n_changes;	/* of events.change, what counts most first */
};

struct report_events {
	size_t n;
	struct report_event *event;	/* the newest first */
	size_t n_changes;
	struct report_change *change;
};

/* 0 or -ENOMEM. It points into the others. Always release. */
int report_events_make(struct report_events *e, const struct history *history,
		       const struct verdict *verdict);
void report_events_release(struct report_events *e);

#endif
