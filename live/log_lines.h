/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LIVE_LOG_LINES_H
#define BUILDBEAT_LIVE_LOG_LINES_H

#include "analyse/output.h"

/*
 * The lines of an output by their numbers: all of them, those of one task, or those with a text. Reading
 * begins at the nearest of the places that are kept, so that a window anywhere costs as much as the first.
 */

/* Successive lines of a selection. */
struct log_range {
	uint64_t line, n;
	uint64_t before;	/* lines of the selection before these */
};

/* One selection is kept for the windows that follow. */
struct log_selection {
	uint32_t task;		/* NO_INDEX: of no known task */
	bool of_task;		/* otherwise of all */
	char *text;		/* NULL: with any text */
	uint64_t looked_at;	/* lines, for the text */
	size_t n_ranges;
	struct log_range *range;
	uint64_t n;		/* lines */
};

struct log_lines {
	struct output *output;	/* borrowed; NULL: there is none */
	uint64_t n;		/* lines so far */
	bool complete;		/* the output does not grow */
	size_t n_places;
	struct output_place *place;
	bool selected;
	struct log_selection selection;
	struct buf text;
};

/* All 0 but the output at first. Look for lines that were written since. 0 or a negative errno. */
int log_lines_update(struct log_lines *l, bool complete);
void log_lines_release(struct log_lines *l);

/* Continue reading with this line: parts of lines before it can come first. next: the line that would be read
 * next, UINT64_MAX if this is not known. */
void log_lines_go(struct log_lines *l, uint64_t next, uint64_t line);

/* Select the lines of a task, if of_task is set, that contain the text (NULL: any text) as they are shown; upper and
 * lower case are equal. 0 or a negative errno. */
int log_lines_select(struct log_lines *l, const struct output_tasks *tasks, bool of_task, uint32_t task,
		     const char *text);

/* The range with line number `at` of the selection; n_ranges: none. */
size_t log_lines_find(const struct log_lines *l, uint64_t at);

#endif
