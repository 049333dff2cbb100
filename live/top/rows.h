/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LIVE_TOP_ROWS_H
#define BUILDBEAT_LIVE_TOP_ROWS_H

#include "analyse/value.h"
#include "live/top/model.h"

/* The rows of the list: processes, as a tree or sorted, and tasks whose process is not known. They are sorted by
 * a value that a process has (enum value), or by one of these. */
enum { TOP_BY_PID = VALUE_SORTS, TOP_BY_TASK, TOP_BY_COMMAND, TOP_SORTS };

struct top_row {
	const struct process_row *process;	/* NULL: of a task without one */
	const char *task;	/* "" */
	int64_t age_us;		/* of the task, or of the process */
	uint32_t depth;		/* in the tree */
};

/* "CPU", "pid" ... */
const char *top_sort_title(int sort);

/* The next one, or with -1 the one before. */
int top_sort_next(int sort, int step);

/* The CPU time of a process is its share since the last reading, in permille. -1: not known. */
int64_t top_value(const struct top_row *row, enum value v);

struct top_rows {
	size_t n;
	struct top_row *row;
};

struct top_order {
	int sort;
	bool up, tree;
	const char *filter;	/* "": all; otherwise a part of task or command, in any case of letters */
};

/* 0 or -ENOMEM. Free rows->row. Valid until the model is read again. */
int top_rows_make(struct top_rows *rows, const struct top_model *m, const struct top_order *order);

/* Whether the text is a part of task or command. */
bool top_row_has(const struct top_row *row, const char *text);

#endif
