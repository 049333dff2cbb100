/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_EVENTS_H
#define BUILDBEAT_REPORT_EVENTS_H

#include "compare/verdict.h"

/* The events of a report: those of history with the findings of check. */
struct report_change {
	uint32_t task;		/* index into builds.task, TASK_TOTAL or TASK_HOST */
	enum metric metric;
	bool worse, creep;
	double before, after;	/* in the metric's unit */
	double effect, rate;
	const struct verdict_finding *finding;	/* finding of check, or NULL */
	const struct known *known;
};

struct report_event {
	uint32_t at, first, last;	/* builds */
	bool worse, host;
	size_t first_change, n_changes;	/* in events.change, largest first */
};

struct report_events {
	size_t n;
	struct report_event *event;	/* the newest first */
	size_t n_changes;
	struct report_change *change;
};

/* The result points into history. Returns 0 or -ENOMEM. Always release. */
int report_events_make(struct report_events *e, const struct history *history);
void report_events_release(struct report_events *e);

#endif
