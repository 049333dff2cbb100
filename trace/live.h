/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_TRACE_LIVE_H
#define BUILDBEAT_TRACE_LIVE_H

#include "recording/growing.h"
#include "trace/sink.h"

/*
 * A recording as a trace while it grows. Slices begin and end when their lines come, so a trace
 * that ends anywhere has the tasks that ran then. Processes and tracks are those of tracks.h, except
 * that a track is chosen when its task starts. Memory is needed for what runs.
 *
 * The slice of a task begins at the end of the reading in which its start came. A task that is named
 * later has its first name, and the later one as an argument. A name after its end comes too late.
 * The path of the build and the arrows between tasks follow from the whole recording: only whole.h
 * has them.
 */
struct live;

#define LIVE_FLUSH_SIZE ((size_t)256 << 10)

/* Write to a sink. flush is called with out->len above LIVE_FLUSH_SIZE; it clears out and returns 0
 * or a negative errno. 0 or -ENOMEM. */
int live_new(struct live **out, struct sink *sink, int (*flush)(void *context, struct buf *out),
	     void *context);
void live_free(struct live *l);

/* For growing_open(), with a struct live as the context. */
extern const struct growing_to live_growing;

/* After each growing_read(): begin the slices of the tasks that started meanwhile. */
void live_settle(struct live *l);

/* The recording has ended: end everything that was still running, and the trace, which records how
 * many damaged lines were left out. 0 or a negative errno. */
int live_end(struct live *l, uint64_t damaged);

#endif
