/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LIVE_TOP_ROWS_H
#define BUILDBEAT_LIVE_TOP_ROWS_H

#include "live/top/model.h"

/* The rows of the list: processes, as a tree or sorted, and tasks whose process is not known. */
enum top_sort { TOP_BY_CPU, TOP_BY_MEMORY, TOP_BY_TIME, TOP_BY_PID, TOP_BY_TASK, TOP_BY_COMMAND, TOP_SORTS };

extern const char *const top_sort_word[TOP_SORTS];

struct top_row {
	const struct process_row *process;	/* NULL: of a task without one */
	const char *task;	/* "" */
	int64_t age_us;		/* of the task, or of the process */
	uint32_t depth;		/* in the tree */
};

struct top_rows {
	size_t n;
	struct top_row *row;
};

struct top_order {
	enum top_sort sort;
	bool up, tree;
	const char *filter;	/* "": all; otherwise a part of task or command, in any case of letters */
};

/* 0 or -ENOMEM. Free rows->row. Valid until the model is read again. */
int top_rows_make(struct top_rows *rows, const struct top_model *m, const struct top_order *order);

/* Whether the text is a part of task or command. */
bool top_row_has(const struct top_row *row, const char *text);

#endif
