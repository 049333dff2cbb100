/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_OUTPUT_EXCERPT_H
#define BUILDBEAT_ANALYSE_OUTPUT_EXCERPT_H

#include "analyse/output.h"

/*
 * The first and the last lines of what each task wrote, for pictures that have no room for all of it:
 * EXCERPT_LINES of each, without escape sequences and shortened to EXCERPT_WIDTH bytes. If there is
 * more than EXCERPT_MAX bytes of them, only failed and killed tasks have further lines.
 */
#define EXCERPT_LINES 4
#define EXCERPT_WIDTH 200
#define EXCERPT_MAX 65536

struct output_excerpt {
	size_t n;
	uint32_t *task;		/* of each line */
	struct buf text;	/* the lines, each ended by a newline; "..." stands for some omitted ones */
};

/* Reads all lines; the output is at its beginning afterwards. 0 or a negative errno. Always
 * release. */
int output_excerpt_make(struct output_excerpt *x, struct output *o, const struct output_tasks *t,
			const struct recording *rec);
void output_excerpt_release(struct output_excerpt *x);

/* Add what a terminal shows of a line in the end, without colours, and a newline. */
void output_excerpt_text(struct buf *out, struct slice line);

#endif
