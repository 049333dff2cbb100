/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RECORDING_PROCESS_LOG_H
#define BUILDBEAT_RECORDING_PROCESS_LOG_H

#include "base/buf.h"
#include "base/cursor.h"
#include "recording/event.h"

#include <stddef.h>
#include <stdint.h>

/*
 * The lines of processes.log, one a process, written when it has ended. In words
 * in buildbeat-recording(5); the reader of the file is reader_processes.c.
 *
 *   buildbeat processes 1
 *   done	48211	4711	4700	31022	120	cc -c hello.c	0	21000	8000
 *   fail	TIME	PID	PARENT	WALL	EXEC	COMMAND	STATUS	VALUES
 *   runs	99000	4712	4711	52000	80	ccache --daemon
 *   lost	70000	12
 */

#define PROCESS_LOG_NAME "processes"
#define PROCESS_LOG_HEADER "buildbeat processes 1\n"
#define PROCESS_COMMAND_MAX 240		/* escaped */

enum process_word {
	PROCESS_ENDED,
	PROCESS_RUNS,		/* it still ran when the recording ended */
	PROCESS_LOST,		/* events about processes are missing before this line */
};

struct process_line {
	enum process_word word;
	int64_t time_us;	/* when it ended */
	int64_t n_lost;		/* number of events, of PROCESS_LOST, which has none of the following values */
	int32_t pid, parent;	/* the process that started it */
	int64_t wall_us;	/* how long it had lived by then */
	int64_t exec_us;	/* age at its exec, -1: it never called it and is a copy of its
				   parent */
	struct slice command;	/* escaped; of a copy that of its parent */
	struct event_end end;	/* of the process alone, without its children */
	int64_t delay_us;	/* its threads were ready to run and waited for a processor, added
				   up; -1: unknown */
};

/* Replace the content of b by the words of a process (/proc/PID/cmdline) as the escaped text of a
 * line, with secrets replaced. If the last word has no NUL byte at its end, it is incomplete. */
void process_log_command(struct buf *b, char *words, size_t len);

void process_log_add(struct buf *b, const struct process_line *l);

/* The name of the program in such a text: that of the script if an interpreter's first word is one; "?" if
 * it is not known. */
struct slice process_log_program(struct slice command);

/* One line without its newline. command points into it. */
enum event_parsed process_log_parse(struct slice line, struct process_line *l);

#endif
