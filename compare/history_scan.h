/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_COMPARE_HISTORY_SCAN_H
#define BUILDBEAT_COMPARE_HISTORY_SCAN_H

#include "compare/history.h"

/*
 * Finds change points and creep in many series of one metric, with a thread for each processor.
 * Results are in the order of the series, then of the builds.
 */
struct history_scan {
	const struct builds *builds;
	const struct rules *rules;
	enum metric metric;
	const float *values;	/* as set by builds.load() */
	const double *host;	/* factor of each build, removed from values; or NULL */

	struct history_change *change;	/* those that exceed the thresholds */
	size_t n_changes;
	size_t n_series;	/* examined */
	size_t n_quiet;		/* of these, series without any change */
};

/* Adds the changes of the tasks [begin, end). Returns 0, -ENOMEM or -EFBIG. */
int history_scan_tasks(struct history_scan *s, uint32_t begin, uint32_t end);

/* Adds the changes of one series, which belongs to task. */
int history_scan_series(struct history_scan *s, uint32_t task, const double *values);

/* The values of a series without the host's factor: of the build, or of a task. */
void history_scan_take_total(const struct history_scan *s, double *values);
void history_scan_take_task(const struct history_scan *s, uint32_t task, double *values);

#endif
