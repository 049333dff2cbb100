/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_OUTPUT_EVIDENCE_H
#define BUILDBEAT_ANALYSE_OUTPUT_EVIDENCE_H

#include "analyse/output.h"

/*
 * For output.c: whose line it is if several tasks can have written it. The line names a file,
 * "bad.c:1:24: error: ...", "  CC bad.o", that one of these tasks alone has in its command. What
 * follows and clearly continues such a message is of the same task.
 */

/* If more tasks can have written a line, its task is not known. */
#define EVIDENCE_CANDIDATES 256

enum evidence_state {
	EVIDENCE_NONE,		/* the line before began no message of a known task */
	EVIDENCE_UNKNOWN,	/* it began one whose task is not known */
	EVIDENCE_TITLE,		/* "error: ...", which a place may follow */
	EVIDENCE_MESSAGE,	/* "bad.c:1:24: error: ..." */
	EVIDENCE_SOURCE,	/* perhaps the source line of a message, which "^" would follow */
	EVIDENCE_MARGIN,	/* "    1 | int x;" */
	EVIDENCE_ARROW,		/* " --> bad.rs:1:24" */
	EVIDENCE_INCLUDE,	/* "In file included from bad.c:1:" */
	EVIDENCE_FUNCTION,	/* "bad.c: In function 'f':" */
	EVIDENCE_LINKER,	/* "ld: bad.o: in function `f':" */
	EVIDENCE_FRAME,		/* "  File "bad.py", line 1, in f" */
};

/* More messages at once are not compared. */
#define EVIDENCE_OPEN 16

struct evidence_open {
	uint32_t task;		/* or NO_INDEX */
	uint8_t says;		/* enum says */
	bool half;		/* its piece of source has begun */
	uint64_t line, column;	/* 0: none */
	int64_t us;		/* when it was written */
};

struct output_named;

struct output_evidence {
	const struct recording *rec;
	/* those that can have written the line */
	uint32_t candidate[EVIDENCE_CANDIDATES];
	size_t n;
	bool echoes;		/* one of them is an echo */
	uint64_t generation;	/* increased when they change */
	/* the message of the line before */
	enum evidence_state state;
	uint32_t owner;
	size_t source_len;
	int64_t from_us, to_us;
	/* messages of which the rest may still follow */
	struct evidence_open open[EVIDENCE_OPEN];
	size_t n_open;
	int64_t crowded_us;	/* then there were more, -1: not */
	uint32_t last_known;	/* the task of the line before, which is this: */
	struct buf last;
	struct output_named *command;	/* by task, modulo their number */
	struct evidence_answer *answer;
	struct buf plain, skeleton;
};

/* 0 or -ENOMEM. Always release. */
int output_evidence_init(struct output_evidence *e, const struct recording *rec);
void output_evidence_release(struct output_evidence *e);

/* The tasks that can have written the next lines, without duplicates. */
void output_evidence_candidates(struct output_evidence *e, const uint32_t *task, size_t n);

/* The task of the line among them, or NO_INDEX. *before: the line before is of that task, too. */
uint32_t output_evidence_task(struct output_evidence *e, const struct output_line *line, bool *before);

/* A line whose task is known otherwise; NO_INDEX: it is not of a task. */
void output_evidence_known(struct output_evidence *e, const struct output_line *line, uint32_t task);

#endif
