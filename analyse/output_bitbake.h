/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_OUTPUT_BITBAKE_H
#define BUILDBEAT_ANALYSE_OUTPUT_BITBAKE_H

#include "analyse/output.h"
#include "base/buf.h"
#include "base/sort.h"

/*
 * BitBake's console names the task of a message: by recipe and task, by the recipe's file and the
 * task, or by the task's log. All other lines of it are of no known task, but the contents of a
 * log that it prints.
 */

#define OUTPUT_BITBAKE_LOGS 8

struct output_bitbake {
	const struct recording *rec;
	struct keyed *name;	/* of tasks: hashes of what they are called, sorted */
	size_t n;
	/* of one stream: logs of failed tasks that may be printed next */
	uint32_t log[OUTPUT_BITBAKE_LOGS];
	size_t n_logs;
	uint32_t printed;	/* the task whose log the line before is of */
};

/* 0 or a negative errno. Always release. */
int output_bitbake_init(struct output_bitbake *o, const struct recording *rec);
void output_bitbake_release(struct output_bitbake *o);


/* The task of a line that begins, or NO_INDEX. Of each stream all lines in order. */
uint32_t output_bitbake_task(struct output_bitbake *o, const struct output_line *line);

#endif
