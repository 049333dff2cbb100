/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_SHOW_OUTPUT_H
#define BUILDBEAT_REPORT_SHOW_OUTPUT_H

#include "analyse/answer.h"
#include "analyse/build_output.h"
#include "analyse/inspected.h"
#include "analyse/view.h"
#include "write/doc.h"

/* The options of `buildbeat show`. */
struct show_options {
	enum value sort;	/* VALUE_SORTS: the default, several lists */
	size_t top;		/* of each list */
	bool brief;		/* on a terminal, of a whole build: what fits on one screen, with shorter lists */
	bool tasks;		/* every selected task, not only the top targets */
	size_t n_groups;	/* the tables of --by */
	struct groups *groups;
	struct groups *programs;	/* by program */
	/* of the view's summary */
	const struct chain *chain;
	const struct answer *answer;
	const struct inspected *inspected;
	const struct build_output *output;	/* empty: without what failed tasks said */
};

/*
 * The outputs of a summary. They bring v's lists into other orders. 0 or the buffer's error.
 *
 * A terminal has all of it, or SHOW_BRIEF_LINES lines if `brief` is set. Markdown is for the summary of a job on GitHub or GitLab: the verdict, facts,
 * failed tasks with their lines, and tables. It has less than SHOW_MARKDOWN_MAX bytes, GitHub's limit of
 * a summary; rows beyond that are left out.
 */
#define SHOW_MARKDOWN_MAX (1024 * 1024)
#define SHOW_BRIEF_LINES 30

int show_doc(struct doc *d, struct view *v, const struct show_options *o);
int show_json(struct buf *out, struct view *v, const struct show_options *o);

/* The members of show's JSON that say how the whole build went, without lists of tasks, into an open object. */
void show_json_summary(struct json *j, const struct summary *s, const struct answer *a);

/* Members of the JSON object of a task in the list of all tasks: those that are not of live/task_json.h. */
void show_json_more(struct json *j, const struct summary *s, uint32_t task);

#endif
