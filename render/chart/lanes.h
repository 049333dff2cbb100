/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RENDER_CHART_LANES_H
#define BUILDBEAT_RENDER_CHART_LANES_H

#include "analyse/summary.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Where each task goes. A lane holds tasks that do not overlap (by more than the
 * little by which hosts' stamps do, lane_pack.h); a row is what is labelled: by
 * worker one lane a row, by recipe, directory or kind as many as tasks of it ran at
 * once. Never more than LANE_ROWS_MAX rows: beyond that workers share rows and at last
 * lanes, but labels number them all; and the
 * groups with least time become the last, "others".
 *
 * A task has the worker that its host recorded. Without one, it has the worker whose last
 * task it follows within LANE_SEQUENCE_US in its target or directory, otherwise the lowest
 * free one.
 */
enum lanes_by { LANES_WORKER, LANES_RECIPE, LANES_DIRECTORY, LANES_KIND, LANES_BY };

/* "worker" ...; ends with NULL. */
extern const char *const lanes_word[LANES_BY + 1];

#define LANE_ROWS_MAX 48
#define LANE_NEST_ROWS_MAX 6
#define LANE_SEQUENCE_US 100000

struct row {
	char *label;		/* "1", "5-8", "src/lib", "compile"; not yet safe to print */
	bool nest;		/* of tasks that ran builds of their own, and phases: thin, on
				   top of the others, one row a level of nesting */
	uint32_t first_lane, n_lanes;
	size_t n_tasks;
	int64_t busy_us;	/* their wall time added up */
};

struct lanes {
	enum lanes_by by;
	size_t n_rows;
	struct row *row;
	uint32_t n_lanes;	/* of all rows */
	uint32_t *lane;		/* of the task summary.order[i], i < n_ran. In a row with
				   LANES_A_ROW_MAX lanes tasks may overlap */
	uint32_t *span_lane;	/* of the recording's span[i]: that of its task; of an
				   instance's own in a nest row; or NO_INDEX */
};

#define LANES_A_ROW_MAX 16

/* 0 or -ENOMEM. Always release. */
int lanes_make(struct lanes *l, const struct summary *s, enum lanes_by by);
void lanes_release(struct lanes *l);

#endif
