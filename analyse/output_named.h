/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_OUTPUT_NAMED_H
#define BUILDBEAT_ANALYSE_OUTPUT_NAMED_H

#include "base/buf.h"
#include "base/cursor.h"
#include "recording/recording.h"

/* Which files the command of a task names. */

struct output_word;

struct output_named {
	bool filled;
	uint32_t task;
	bool unsure;		/* the command is not known, or not wholly */
	bool compiles;		/* it has -c: it does not link */
	bool here;		/* it has the word "." */
	bool echo;		/* it is an echo, and nothing else */
	bool sorted;		/* the words are, by their hashes, except the first, with "*" */
	struct buf text;	/* what the words point into */
	struct output_word *word;
	size_t n_words, words_room, n_patterns;
	struct buf skeleton;
};

/* All 0 at first; it forgets another task. If there is no memory for it, it is unsure. */
void output_named_fill(struct output_named *c, const struct recording *rec, uint32_t task);
void output_named_release(struct output_named *c);

enum naming {
	NOT_NAMED,
	MAY_BE_NAMED,		/* with another directory, by a pattern, or the command is not known */
	NAMED,			/* in the command, or the task's name */
};

enum naming output_naming(const struct output_named *c, struct slice path);

/* Without "./". */
struct slice output_named_path(struct slice path);

/* Add a text without blanks and quotes. */
void output_add_skeleton(struct buf *b, const char *p, size_t len);

/* The command likewise, and hash_bytes(0) of what an echo prints. Without memory it is unsure. */
const struct buf *output_named_skeleton(struct output_named *c);
uint64_t output_named_echo(struct output_named *c);

#endif
