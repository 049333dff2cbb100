/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RECORDING_OUTPUT_LOG_H
#define BUILDBEAT_RECORDING_OUTPUT_LOG_H

#include "base/buf.h"
#include "base/cursor.h"
#include "base/error.h"
#include "recording/event.h"
#include "recording/recording.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The build's own output. output.log has its bytes in the order in which they were read, with
 * secrets replaced, and output_index.log one line for each piece of it:
 *	TIME SPAN STREAM END [INSTANCE TASK [ends]]
 * after a first line. The bytes of output.log from the END of the line before (or 0) to END were written to STREAM
 * between TIME - SPAN and TIME, in microseconds since the recording's start. STREAM is 1 (standard
 * output), 2 (standard error) or 12 (the same terminal, pipe or file for both). Bytes after the
 * last END were written later, by a process that was killed before it could write the index.
 *
 * INSTANCE and TASK, as in tasks.log, are there if the bytes come from the task's own pipe: they were written by its processes, or by
 * those of instances and tasks inside it that have no pipe of their own. Lines are whole: an unfinished one is
 * continued by the next bytes of its task, unless it "ends" without a newline, as the task has
 * ended. Bytes without a task come from the build's own output.
 */
#define OUTPUT_LOG "output.log"
#define OUTPUT_INDEX "output_index.log"
#define OUTPUT_HEADER "buildbeat output 1\n"
#define OUTPUT_ENDS "ends"

enum output_stream {
	OUTPUT_STDOUT = 1, OUTPUT_STDERR = 2, OUTPUT_BOTH = 12,
};

/* A longer line is returned in parts of about this size. */
#define OUTPUT_PART_MAX 65536

/*
 * A line of the output, or a part of a long one. text is without the newline. A line is
 * returned when it ends, so if both streams have unfinished lines, these come at the end. So do those of
 * tasks with a pipe of their own.
 */
struct output_line {
	struct slice text;
	uint64_t number;	/* of the line, from 0; parts of one line have the same */
	uint64_t offset;	/* of the line's first byte in output.log */
	/* The line was written between these times. The first is that of its first, the last
	 * that of its last byte so far. -1: not known. */
	int64_t from_us, first_us, to_us;
	enum output_stream stream;
	const char *inst;	/* the task whose pipe it was written to; "": not known */
	uint64_t task;		/* its number in the instance */
	bool begins, ends;	/* this part begins, or ends, the line */
	bool newline;		/* the line ended with one; otherwise the output ended */
};

struct output;

/*
 * Open the output in the recording's directory path. codec (may be NULL) unpacks compressed
 * files. 0; -ENOENT without err if the recording has no output; another negative errno with err.
 */
int output_open(struct output **out, const char *path, const struct recording_codec *codec,
		struct error *err);

/* The next line, valid until the next call. 1, 0 at the end, or a negative errno. After 0, a call
 * returns what was written since, if the recording is still growing. last: at the end of what
 * is there now, also return the unfinished lines. */
int output_next(struct output *o, struct output_line *line, bool last);

/* Begin again with the first line. */
void output_rewind(struct output *o);

/* Where a line begins, to continue there later. */
struct output_place {
	uint64_t line;		/* its number */
	uint64_t at, index_at, piece_end;
	int64_t piece_time_us, piece_span_us;
	enum output_stream stream;
	char inst[INSTANCE_ID_MAX];
	uint64_t task;
	bool ends;
};

/* That of the next line, after 1 or 0 of output_next(). False if another line has begun and not ended. */
bool output_place(const struct output *o, struct output_place *place);

/* Continue at a place of this output. */
void output_go(struct output *o, const struct output_place *place);

/* When the newest piece before a time was read, 0: there is none; -1: no output is recorded, or it was
 * compressed. */
int64_t output_newest_us(const char *path, int64_t before_us);

/* Damaged lines of the index, which were skipped. */
uint64_t output_damaged(const struct output *o);

void output_close(struct output *o);

#endif
