/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RENDER_SHOW_H
#define BUILDBEAT_RENDER_SHOW_H

#include "analyse/answer.h"
#include "analyse/inspected.h"
#include "analyse/view.h"
#include "write/doc.h"

/* The options of `buildbeat show`. */
struct show_options {
	enum value sort;	/* VALUE_SORTS: the default, several lists */
	size_t top;		/* of each list */
	bool tasks;		/* every selected task, not only the top targets */
	size_t n_groups;	/* the tables of --by */
	struct groups *groups;
	struct groups *programs;	/* by program */
	/* of the view's summary */
	const struct chain *chain;
	const struct answer *answer;
	const struct inspected *inspected;
};

/*
 * The two outputs of a summary. They bring v's lists into other orders. 0 or the
 * buffer's error.
 */
int text_show(struct buf *out, struct view *v, const struct show_options *o,
	      const struct style *style);
int json_show(struct buf *out, struct view *v, const struct show_options *o);

/* The members of the JSON object of a task, as in the list of all tasks. */
void json_show_task(struct json *j, const struct summary *s, uint32_t task);

/* The inspected processes of the selected tasks. */
void text_inspected(struct buf *out, const struct view *v, const struct inspected *x, size_t top,
		    const struct style *style);

/* Parts of the usual output: kinds, and programs if processes were recorded. */
void text_kinds(struct doc *d, struct groups *kinds);
void text_programs(struct doc *d, struct groups *programs, const struct summary *s, size_t top);

#endif
