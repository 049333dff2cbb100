/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_OUTPUT_H
#define BUILDBEAT_ANALYSE_OUTPUT_H

#include "base/buf.h"
#include "command/build_tool.h"
#include "recording/output_log.h"
#include "recording/recording.h"

/*
 * Which task wrote each line of the build's output. A line has a task only if no other task of the
 * recording can have written it; otherwise its task is not known.
 *
 * - Processes of a make write to pipes of their own: such a line is of the task whose pipe it is, unless a build tool
 * runs in that task. Otherwise, and without such pipes (output_pipes.h):
 * - make prints a command before its task starts. With --output-sync it prints the command and
 * its output in one piece after the task has ended. Without pipes, that piece goes up to the next
 * command, unless a task whose command is not printed ended at that time. Otherwise a task can
 * write between its command's line and its end: the lines are its own while it is the only one.
 * While several tasks can write, a line that names a file, as compilers do, is of the only task whose
 * command names it: output_evidence.h.
 * - ninja prints a status line with the number of ended tasks, and then the output of the one
 * that ended last. A task of the console pool writes when it wants: its lines are not known.
 * - `buildbeat task`: lines during the task, if no other task runs.
 * - BitBake's console names recipe and task: "NOTE: recipe gcc-13.2-r0: task do_compile: Started".
 * What its tasks write themselves is in their logs.
 *
 * Lines of other build tools are not known. Lines of the build tools themselves have no task, except
 * the one by which make reports that a task failed. What a makefile prints by $(info) while a task
 * runs looks like the output of the task.
 */

/* Lines from first_line up to the next run's have this task. */
struct output_run {
	uint64_t first_line;
	uint32_t task;		/* or NO_INDEX */
};

struct output_tasks {
	size_t n_runs;
	struct output_run *run;
	uint64_t n_lines, n_known;	/* in all; with a task */
	uint64_t *lines;	/* of each task: their number, without make's report */
	uint64_t *first;	/* and the first of them */
	bool *said;		/* of each failed task: it has a line besides its command and "  CC bad.o" */
	bool *whole;		/* of each task: it has pipes of its own, so no other line is of it */
};

/* Read all lines; the output is at its beginning afterwards. 0 or a negative errno. Always
 * release. */
int output_find_tasks(struct output_tasks *t, struct output *o, const struct recording *rec);
void output_tasks_release(struct output_tasks *t);

/* The path of the file in which the task's output is, if its build tool keeps one. */
bool output_task_log(struct buf *path, const struct recording *rec, uint32_t task);

/* The task of a line, or NO_INDEX. *at: where the last call has found it, 0 at first. */
uint32_t output_task_of(const struct output_tasks *t, uint64_t line, size_t *at);

/* Is it a line of a build tool itself: "make[2]: Leaving directory". */
bool output_is_of_tool(struct slice line);
/* The same. rest gets what comes after that, level the number, or 0. */
bool output_tool_line(struct slice line, struct slice *rest, uint64_t *level);

/* A line without escape sequences and what a carriage return replaced: a part of it, or of text. */
struct slice output_plain(struct buf *text, struct slice line);

/* make may print a command with other blanks and quotes than the recording has: they are not compared. */
static inline bool output_is_skipped(char c)
{
	return c == ' ' || c == '\t' || c == '\\' || c == '"' || c == '\'';
}

/* Behind an escape sequence of a terminal, which ends with a letter: "\033[1;31m". */
static inline const char *output_after_escape(const char *at, const char *end)
{
	at++;
	while (at < end && (*at == '[' || *at < '@' || *at > '~'))
		at++;
	return at < end ? at + 1 : end;
}

/* Whether the output of this build tool shows tasks in this way. */
static inline bool output_is(const struct instance *i, enum build_tool_output how)
{
	return build_tool_of(i->tool)->output == how;
}

#endif
