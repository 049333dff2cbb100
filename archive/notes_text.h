/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ARCHIVE_NOTES_TEXT_H
#define BUILDBEAT_ARCHIVE_NOTES_TEXT_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/cursor.h"
#include "compare/known.h"

#include <stdbool.h>

/*
 * The text of the git note on a build has lines such as
 *	accept cpu,wall "core: main.o" by "Name" at 2026-11-20T09:12:00Z: the reason
 *	ack all total by "Name" at 2026-11-20T09:12:00Z: the reason
 * with names of metrics or "all", and a pattern of task names or the word total. In quotes \" and
 * \\ are these characters, \n is a newline and \xHH any byte. The reason has the escapes \\,
 * \n and \xHH. It can end with some of
 *	[owner: NAME] [bug: URL] [fixed by: COMMIT] [everywhere: SERIES] [invalid]
 * where brackets in a text are \x5b and \x5d, as the last one of a reason is. Readers that do not
 * know these take them for a part of the reason. Empty lines and those that begin with '#' are ignored.
 */

/* Adds the line of a note, without its build. */
void note_line_add(struct buf *out, const struct known *k);

enum note_line {
	NOTE_SAYS,		/* a note: sets *k except build; texts belong to the arena */
	NOTE_SAYS_NOTHING,
	NOTE_DAMAGED,
};

/* Returns 0 or -ENOMEM. */
int note_line_read(enum note_line *what, struct known *k, struct arena *texts,
		   struct slice line);

/* Whether kind, pattern and metrics are the same. */
bool note_is_about(const struct known *a, const struct known *b);

/*
 * Merges two notes that changed from base (which may be ""): the lines of ours, then the new ones of
 * theirs, except those that one of them removed.
 */
void note_merge(struct buf *out, struct slice base, struct slice ours, struct slice theirs);

#endif
