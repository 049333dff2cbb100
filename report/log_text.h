/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_LOG_TEXT_H
#define BUILDBEAT_REPORT_LOG_TEXT_H

#include "analyse/output_nearby.h"
#include "base/buf.h"
#include "base/text.h"
#include "recording/identity.h"

/* Lines of the build's output for people and programs. */

enum log_escapes {
	LOG_STRIP,		/* without escape sequences, all other bytes unchanged */
	LOG_PLAIN,		/* for a terminal: other control characters visible, and what a carriage
				   return replaced is left out */
	LOG_COLOURS,		/* the same with colours */
};

/* A line without its newline, or a part of one. */
void log_add_text(struct buf *b, struct slice text, enum log_escapes escapes);

/* "  12.345678 3f2a1c$9b00de  ": when the first byte was read, in seconds since the recording's
 * start, and the ids of the task and of those around it; "-" for none. */
void log_add_place(struct buf *b, const struct recording *rec, const struct identity *id,
		   const struct output_line *line, uint32_t task);

/* The line as one line of JSON: an object, or for a long line one for each part. It has the ids of
 * the tasks near which it was written, if there are any. */
void log_add_json(struct buf *b, const struct recording *rec, const struct identity *id,
		  const struct output_line *line, uint32_t task, const struct output_nearbies *nearby);

#endif
