/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_OUTPUT_MARKS_H
#define BUILDBEAT_ANALYSE_OUTPUT_MARKS_H

#include "analyse/output_pipes.h"

/* For output*.c: lines that show a task. */

/* A line by which a task is known: the command that make printed, or ninja's status. */
struct output_mark {
	uint64_t line, n_lines;
	int64_t from_us, to_us;	/* the line was written between them */
	int64_t after_us;	/* what follows was written later than this, by its task */
	int64_t before_us;	/* what is before was written earlier, by the tasks that follow */
	uint32_t pipe;		/* the task to whose pipe it was written, see output_pipes.h */
	uint32_t group;		/* make: of equal commands; ninja: the instance */
	uint32_t task;		/* NO_INDEX: not known. What was written before ends here */
	uint32_t count;		/* ninja: of ended tasks */
	uint32_t text;		/* ninja: hash of the description's end */
	bool ninja;
	bool on_terminal;	/* ninja: statuses replace one another */
	bool mixed;		/* ninja: the line begins with what another task wrote */
};

/* When a task can have written, by its host. */
struct output_window {
	int64_t begin_us, end_us;
};

struct output_marks {
	const struct recording *rec;
	struct output_pipes *pipes;	/* of the caller */
	size_t n;
	struct output_mark *mark;	/* by line */
	struct output_window *synced;	/* of each task of a make: when it was printed, if at once */
	int64_t *printed_us;	/* and since when its command can have been printed */
	bool *collected;	/* of each task: its make prints its output after its end */
	bool *buried;		/* of each instance: it is inside such a task, or one of BitBake,
				   which is all that is known of its lines */

	/* Commands of tasks, equal ones together. */
	struct output_command *command;
	size_t n_commands;
	/* of the line that is being read */
	uint32_t pending;	/* command of several lines, NO_INDEX: none */
	uint64_t pending_hash, pending_line;
	uint32_t pending_pipe;
	uint32_t pending_lines;	/* that were read of it after the first */
	int64_t pending_from_us;
	bool has_ninja;
	uint64_t last_count, last_of;	/* of ninja's last status */
};

/* What make prints is found by commands, whatever their blanks and quotes are. */
struct output_command {
	uint64_t key;		/* hash of the beginning of its first line */
	uint64_t hash;		/* of the whole */
	uint32_t task;
	uint32_t more_lines;
	bool truncated;		/* in the recording */
};

/* 0 or -ENOMEM. Always release. */
int output_marks_init(struct output_marks *m, const struct recording *rec, struct output_pipes *pipes);
void output_marks_release(struct output_marks *m);

/* All lines in order. 0 or -ENOMEM. */
int output_marks_add(struct output_marks *m, const struct output_line *line);

/* After all lines: find the tasks of the marks. 0 or -ENOMEM. */
int output_marks_resolve(struct output_marks *m);

/* "[3/17] description", of which text becomes the description. */
bool output_ninja_status(struct slice s, uint64_t *count, uint64_t *of, struct slice *text);

/* The tasks of ninja's marks; for output_marks.c. */
int output_ninja_add(struct output_marks *m, const struct output_line *line, uint32_t pipe);
int output_ninja_resolve(struct output_marks *m);

#endif
