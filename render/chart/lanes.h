#ifndef BUILDBEAT_CHART_LANES_H
#define BUILDBEAT_CHART_LANES_H

#include "summary.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Where each task goes. A lane holds tasks that do not overlap; a row is what is
 * labelled: by worker one lane a row, by recipe, directory or kind as many as tasks
 * of it ran at once. Never more than LANE_ROWS_MAX rows: beyond that workers share
 * rows, and the groups with least time become the last, "others".
 */
enum lanes_by { LANES_WORKER, LANES_RECIPE, LANES_DIRECTORY, LANES_KIND, LANES_BY };

/* "worker" ...; ends with NULL. */
extern const char *const lanes_word[LANES_BY + 1];

#define LANE_ROWS_MAX 48
#define LANE_NEST_ROWS_MAX 6

struct row {
	char *label;		/* "1", "src/lib", "compile"; not yet safe to print */
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
};

#define LANES_A_ROW_MAX 16

/* 0 or -ENOMEM. Always release. */
int lanes_make(struct lanes *l, const struct summary *s, enum lanes_by by);
void lanes_release(struct lanes *l);

/*
 * What a picture of a width shows of the lanes: neighbours of one lane that are too
 * small to tell apart are one piece.
 */
struct piece {
	int64_t from_us, until_us;
	uint32_t lane;
	uint32_t task;		/* the longest in it */
	uint32_t n_tasks;
	uint8_t colour;		/* of that with most time in it */
	uint8_t efficiency;	/* CPU of its tasks in 1/200 of their wall time, 201: more;
				   255: not known */
	uint8_t ended;		/* worst enum task_state in it: done, running, killed, failed */
};

struct pieces {
	size_t n;
	struct piece *piece;	/* by lane, then by time */
};

/*
 * Tasks in [from, until) on `columns` pixels: pieces of less than 1.5 pixels join
 * with a neighbour less than a pixel away; wider merging where there would be more
 * than `most` pieces. 0 or -ENOMEM. Release with pieces_release().
 */
int pieces_make(struct pieces *p, const struct lanes *l, const struct summary *s,
		int64_t from_us, int64_t until_us, unsigned columns, size_t most);
void pieces_release(struct pieces *p);

#endif
