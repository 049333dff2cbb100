/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_TRACE_SINK_H
#define BUILDBEAT_TRACE_SINK_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A trace as it is written: the caller says what happened, a sink writes it in one format. The
 * export of a whole recording (build.h) and the live trace use the same sinks.
 *
 * What is written is appended to sink.out: between two calls the caller may write out->data to a
 * file and buf_clear() it. A file that ends after any such flush can be read. Errors are sticky:
 * ask buf_error(&sink.out) before a flush and at the end.
 *
 * A process is a number, pid. A track is a thread of it: pid and tid, each from 0. Describe
 * processes, tracks and counters before their first event. All times are microseconds since the
 * start of the recording. Texts may contain any bytes; a NUL ends them.
 */

/* The process of the machine and its threads. Instance i is process i + 1. */
enum { SINK_MACHINE = 0 };
enum { SINK_PATH_TID = 0, SINK_SPANS_TID = 1 };

/* A value that viewers show with an event. */
struct sink_arg {
	const char *name;
	const char *text;	/* NULL: the number */
	size_t len;		/* of text */
	int64_t number;
	bool id;		/* the number is shown as 16 hexadecimal digits */
};

/* What an arrow between two slices says. */
enum sink_flow_kind {
	SINK_CHILD,		/* the task in which a build tool runs -> a task of that tool */
	SINK_DEPENDENCY,	/* a task -> one that waited for its target */
	SINK_FILE,		/* a task -> one that waited for another file that it made */
	SINK_FLOW_KINDS
};

struct sink_flow {
	uint64_t id;		/* of this arrow alone, from 1 */
	int64_t us;		/* where it begins or ends: a moment of the slice */
	enum sink_flow_kind kind;
};

/* One slice of a track. Arrows in `from` begin at it, those in `to` end at it, later than they
 * begin, or at the same time if the slice where they begin was written before. */
struct sink_slice {
	uint32_t pid, tid;
	int64_t begin_us, end_us;	/* end of sink_slice_begin(): ignored */
	const char *name, *category;	/* category may be NULL, without ',' */
	const struct sink_arg *arg;
	size_t n_args;
	const struct sink_flow *from, *to;
	size_t n_from, n_to;
};

/* The recording. Times of clocks may be -1: not known. */
struct sink_start {
	int64_t wall_ns, mono_ns;
};

struct sink {
	const struct sink_ops *ops;
	struct buf out;
	/* Several recordings can be in one trace: the caller may set these between events. */
	uint32_t first_pid;	/* added to each pid */
	int64_t offset_us;	/* added to each time */
	void *state;		/* of the format */
};

struct sink_ops {
	size_t state_size;	/* of sink.state, zeros at first */
	void (*begin)(struct sink *s, const struct sink_start *start);
	/* order: processes are sorted by it, tracks of a process too. label may be NULL. */
	void (*process)(struct sink *s, uint32_t pid, const char *name, const char *label,
			int order);
	void (*track)(struct sink *s, uint32_t pid, uint32_t tid, const char *name, int order);
	/* A slice of which the end is known. The slices of a track come by their begin, outer
	 * slices first; any two of them are one inside the other or beside each other. */
	void (*slice)(struct sink *s, const struct sink_slice *slice);
	/* The same in two calls, when they happen. Slices of a track end in the reverse order of
	 * their begins. args: known at the end only. A track has slices of one kind. */
	void (*slice_begin)(struct sink *s, const struct sink_slice *slice);
	void (*slice_end)(struct sink *s, uint32_t pid, uint32_t tid, int64_t us,
			  const struct sink_arg *arg, size_t n_args);
	/* The begin of an arrow that was not known when the slice there began: at flow.us, on the
	 * innermost slice of the track. The slice where it ends has it in `to`. */
	void (*flow_begin)(struct sink *s, struct sink_flow flow, uint32_t pid, uint32_t tid);
	void (*instant)(struct sink *s, uint32_t pid, uint32_t tid, int64_t us, const char *name,
			const struct sink_arg *arg, size_t n_args);
	/* Returns the number of the counter. unit is text for people, such as "kB". */
	uint32_t (*counter)(struct sink *s, uint32_t pid, const char *name, const char *unit);
	void (*value)(struct sink *s, uint32_t counter, int64_t us, double value);
	void (*end)(struct sink *s);
	void (*release)(struct sink *s);
};

extern const struct sink_ops sink_chrome;	/* JSON: an array, an event a line */
extern const struct sink_ops sink_perfetto;	/* protobuf */

/* Prepare to write in a format. 0 or -ENOMEM. Always release. */
int sink_init(struct sink *s, const struct sink_ops *ops);
void sink_release(struct sink *s);

static inline struct sink_arg sink_number(const char *name, int64_t number)
{
	return (struct sink_arg){ .name = name, .number = number };
}

#endif
