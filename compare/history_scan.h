/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_COMPARE_HISTORY_SCAN_H
#define BUILDBEAT_COMPARE_HISTORY_SCAN_H

#include "compare/history.h"

/*
 * The change points and the creep of many series of one metric, by as many threads as
 * there are processors. What is found is in the order of the series, then of the builds.
 */
struct history_scan {
	const struct builds *builds;
	const struct rules *rules;
	enum metric metric;
	const float *values;	/* as builds.load() fills them */
	const double *host;	/* what each build is divided by; NULL: nothing */

	struct history_change *change;	/* what passes the gates */
	size_t n_changes;
	size_t n_series;	/* looked at */
	size_t n_quiet;		/* those of them without any change */
};

/* Of the tasks [begin, end), added to what was found. 0 or -ENOMEM, -EFBIG. */
int history_scan_tasks(struct history_scan *s, uint32_t begin, uint32_t end);

/* Of one series; task says whose it is. */
int history_scan_series(struct history_scan *s, uint32_t task, const double *values);

/* A series as it is looked at: the build's total, or a task's values. */
void history_scan_take_total(const struct history_scan *s, double *values);
void history_scan_take_task(const struct history_scan *s, uint32_t task, double *values);

#endif
