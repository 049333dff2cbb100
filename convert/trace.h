/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CONVERT_TRACE_H
#define BUILDBEAT_CONVERT_TRACE_H

#include "convert/builder.h"
#include "convert/json_reader.h"
#include "convert/trace_texts.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Events of Chrome's trace format, collected and nested: the common part of chrome.c, clang_unit.c
 * and bazel.c. A piece is something with a duration, from one event (X) or a pair (B and E of a
 * thread, b and e of an id). A track is a thread or such an id. The pieces of a track nest.
 */

#define TRACE_LONGEST_US 315360000000000	/* ten years: EVENT_TIME_MAX_US */

/* Categories of our own traces: a whole instance, which is around nothing but its spans; the tasks of
 * the critical path once more; a span. */
#define TRACE_INSTANCE "instance"
#define TRACE_PATH "critical-path"
#define TRACE_SPAN "span"

/* Texts are numbers of trace_said(). A trace has millions of pieces: 40 bytes each. */
struct trace_piece {
	int64_t begin_us, end_us;	/* end -1: no end event */
	uint32_t track;
	uint32_t depth;			/* 0: inside no other piece */
	uint32_t name, category, key, note;	/* of the last three each may be 0 */
};

struct trace_process {
	uint32_t id;
	uint32_t name;			/* 0: not known */
	uint32_t instance;		/* NO_INDEX until trace_instance() */
};

struct trace_track {
	uint32_t process;
	uint32_t id;
	uint32_t name;			/* of the thread; 0: not known */
	int32_t slot;			/* of threads: their order; -1: an id */
	uint32_t open;			/* private: the innermost piece without an end so far */
	bool async;			/* an id, not a thread */
};

struct trace {
	bool threads_only;	/* the caller may set it: ids are nested in their threads */
	size_t n_pieces, n_tracks, n_processes, n_damaged;
	struct trace_piece *piece;
	struct trace_track *track;
	struct trace_process *process;
	int64_t start_us;	/* the trace's time that is 0 after trace_finish() */
	struct trace_texts texts;
	struct trace_part *part;	/* private */
};

/* 0 or -ENOMEM. Always release. */
int trace_init(struct trace *t);
void trace_release(struct trace *t);

/* The number of a text: equal texts have the same one. 0: out of memory. */
uint32_t trace_text(struct trace *t, const char *text, size_t len);

/* The text, NULL for 0. It lives as long as the trace. */
static inline const char *trace_said(const struct trace *t, uint32_t text)
{
	return trace_texts_at(&t->texts, text);
}

/* The texts of a piece, instead of those of its event. They come from trace_text(). name 0: the
 * name in the event. */
struct trace_words {
	uint32_t name, category, key, note;
};

/* Add one event: a piece, or the name of a process or thread; others are skipped. Anything that is
 * not an event counts as damaged. words may be NULL. 0 or -ENOMEM. */
int trace_add(struct trace *t, const struct json_value *event, const struct trace_words *words);

/* "ts" in whole microseconds. False: there is none. */
bool trace_event_us(const struct json_value *event, int64_t *us);

/*
 * Sort the pieces by track, then begin, the outer first; set their depths; make times relative to
 * the first. A piece without an end keeps -1: trace_end_us() returns the end of the piece around
 * it, or the newest time of the track. 0, -ENOMEM, or -ERANGE if the times are further apart than
 * those of a recording may be.
 */
int trace_finish(struct trace *t);
int64_t trace_end_us(const struct trace *t, const struct trace_piece *p);

/* Fill err if r is one of the two errors above. Returns r, or -EINVAL for -ERANGE. */
int trace_error(int r, const char *path, struct error *err);

/* Warn of damaged events and of a truncated trace. */
void trace_warn(const struct trace *t, struct builder *b, const char *path, bool cut,
		unsigned line);

/* Give the texts to a recording, which then lives without the trace. */
void trace_give_texts(struct trace *t, struct builder *b);

/* The instance of a track's process. The first call adds it. */
uint32_t trace_instance(struct trace *t, struct builder *b, uint32_t track, const char *tool,
			const char *version);

#endif
