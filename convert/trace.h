/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CONVERT_TRACE_H
#define BUILDBEAT_CONVERT_TRACE_H

#include "convert/builder.h"
#include "convert/json_reader.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Events of Chrome's trace format, collected and nested: what chrome.c, clang.c and
 * bazel.c have in common. A piece is something that took time, from an event of its
 * own (X) or from a pair (B and E of a thread, b and e of an id). A track is a thread
 * or such an id; its pieces nest.
 */

#define TRACE_LONGEST_US 315360000000000	/* ten years: READER_TIME_MAX_US */

struct trace_piece {
	int64_t begin_us, end_us;	/* end -1: it was never seen */
	uint32_t track;
	uint32_t depth;			/* 0: in no other */
	const char *name, *category, *key, *note;	/* NULL: none */
};

struct trace_process {
	const char *id;
	const char *name;		/* NULL: not known */
	uint32_t instance;		/* NO_INDEX until trace_instance() */
};

struct trace_track {
	uint32_t process;
	const char *id;
	const char *name;		/* of the thread; NULL: not known */
	bool async;			/* no thread: an id */
	int32_t slot;			/* threads by number, -1 for the others */
	uint32_t open;			/* trace.c's: innermost begun piece */
};

struct trace {
	bool threads_only;	/* set it: what an id has is nested in its thread's */
	size_t n_pieces, n_tracks, n_processes, n_damaged;
	struct trace_piece *piece;
	struct trace_track *track;
	struct trace_process *process;
	int64_t start_us;	/* what is 0 after trace_finish() */
	struct trace_part *part;	/* trace.c's */
};

/* 0 or -ENOMEM. Always release. */
int trace_init(struct trace *t);
void trace_release(struct trace *t);

/* A copy that lives as long as the trace; the same text has the same address. NULL
 * when out of memory. */
const char *trace_text(struct trace *t, const char *text, size_t len);

/* What a piece is called, if not what its event says (name NULL: that). Texts of
 * trace_text(). */
struct trace_words {
	const char *name, *category, *key, *note;
};

/* One event: pieces, and names of processes and threads; others are passed. What is no
 * event counts as damaged. words may be NULL. 0 or -ENOMEM. */
int trace_add(struct trace *t, const struct json_value *event, const struct trace_words *words);

/* Microseconds of "ts", in whole numbers. False: none. */
bool trace_event_us(const struct json_value *event, int64_t *us);

/*
 * Pieces by track, then begin, the outer first, with their depth; times since the
 * first. Ends that nobody saw are those of what is around them, or the newest time of
 * the track: those pieces keep -1. 0, -ENOMEM, or -ERANGE when they are further apart
 * than a recording's may be.
 */
int trace_finish(struct trace *t);
int64_t trace_end_us(const struct trace *t, const struct trace_piece *p);

/* The error as it is, with err filled if it is one of the two above. */
int trace_error(int error, const char *path, struct error *err);

/* Warn of damaged events and of a truncated trace. */
void trace_tell(const struct trace *t, struct builder *b, const char *path, bool cut,
		unsigned line);

/* The instance of a track's process, made when first asked for. */
uint32_t trace_instance(struct trace *t, struct builder *b, uint32_t track, const char *tool,
			const char *version);

#endif
