/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_FIRST_ERROR_H
#define BUILDBEAT_ANALYSE_FIRST_ERROR_H

#include "analyse/message.h"
#include "analyse/output.h"
#include "analyse/summary.h"

/*
 * What each failed task said first of its error, by the rules of message.h, and what the build itself
 * failed of. All outputs give the same.
 */
#define FIRST_ERROR_TASKS 100	/* of more failed tasks, only those that ended first */
#define FIRST_ERROR_LINES 20	/* of a message */

enum first_error_how {
	FIRST_ERROR_NONE,	/* it wrote nothing that is known */
	FIRST_ERROR_LAST,	/* no rule knows what it wrote: its last lines */
	FIRST_ERROR_REPORT,	/* the build tool's report is all */
	FIRST_ERROR_FOUND,
};

struct first_error {
	uint32_t task;		/* NO_INDEX: the build tool's own */
	enum first_error_how how;
	bool vague;		/* a report that names nothing: "Errors while running CTest" */
	bool while_ran;		/* written while the task ran, perhaps by another one */
	struct slice tool;	/* that a rule names, empty: none */
	uint64_t line;		/* of the message in the output, from 0 */
	struct buf file;	/* of the source, as it was printed; or empty */
	uint64_t file_line, file_column;	/* from 1; 0: not said */
	struct buf message;	/* one line, safe to print */
	size_t n_lines;		/* the message with what belongs to it and what follows */
	uint64_t number[FIRST_ERROR_LINES];
	struct buf text;	/* these lines, without colours and shortened, each with a newline */
	uint64_t first, last;	/* of the message with its pieces */
};

struct first_errors {
	size_t n;
	struct first_error *of;	/* of failed tasks, by their ends; then perhaps the build tool's own */
	size_t whole;		/* the one of the build, or n: it did not fail, or nothing is known */
	uint32_t *n_errors, *n_warnings;	/* lines of each task */
	uint64_t all_errors, all_warnings;	/* in the whole output */
};

/* Reads all lines; the output is at its beginning afterwards. 0 or a negative errno. Always release. */
int first_errors_find(struct first_errors *f, struct output *o, const struct output_tasks *t,
		      const struct summary *s);
void first_errors_release(struct first_errors *f);

/* That of a failed task, or NULL. */
const struct first_error *first_error_of(const struct first_errors *f, uint32_t task);

/* That of the build, or NULL. */
const struct first_error *first_error_of_build(const struct first_errors *f);

/* Is a line of the task (or of NO_INDEX) an error, a warning or a report, and not its command? Colours do
 * not matter: text gets the plain text, which found points into. */
bool first_error_line(const struct recording *rec, uint32_t task, struct slice line, struct buf *text,
		      struct message_found *found);

#endif
