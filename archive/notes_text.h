/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ARCHIVE_NOTES_TEXT_H
#define BUILDBEAT_ARCHIVE_NOTES_TEXT_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/cursor.h"
#include "compare/known.h"

#include <stdbool.h>

/*
 * What is said about a build, as the text of git's note on it, a line each:
 *	accept cpu,wall "core: main.o" by "Name" at 2026-11-20T09:12:00Z: the reason
 *	ack all total by "Name" at 2026-11-20T09:12:00Z: the reason
 * The names of metrics or "all"; a pattern of task names or the word total; in quotes \" and
 * \\ stand for themselves, \n for the end of a line and \xHH for any byte, in the
 * reason \\, \n and \xHH do. Empty lines and those that begin with '#' say nothing.
 */

/* With its newline; build is not written. */
void note_line_add(struct buf *out, const struct known *k);

enum note_line {
	NOTE_SAYS,		/* k, its texts in the arena; build is not set */
	NOTE_SAYS_NOTHING,
	NOTE_DAMAGED,
};

/* 0 or -ENOMEM. */
int note_line_read(enum note_line *what, struct known *k, struct arena *texts,
		   struct slice line);

/* Are they about the same: kind, pattern and metrics. */
bool note_is_about(const struct known *a, const struct known *b);

/*
 * Two notes grown from one become one (sorted neither in any way: ours, then what only theirs
 * has): a line stays unless one of them has taken it out since base. base may be "".
 */
void note_merge(struct buf *out, struct slice base, struct slice ours, struct slice theirs);

#endif
