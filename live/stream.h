/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LIVE_STREAM_H
#define BUILDBEAT_LIVE_STREAM_H

#include "base/error.h"
#include "live/channel.h"
#include "live/now.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * One recording as messages, while it grows or as a whole, for any number of consumers. A message is
 * the text of a server-sent event: id, event and one line of JSON as data, described in
 * buildbeat-api(7).
 *
 * The id of a message is T.S: T lines of tasks.log, and samples up to S ms, were delivered then. It
 * follows from the recording alone, so it is the same from every server and after a restart, and a
 * consumer can go on anywhere behind the last message that it got. If several files have the
 * tasks (on NFS), their order is not the same everywhere: then such a consumer gets all again.
 */
#define STREAM_PERIOD_NS INT64_C(20000000)	/* messages are sent that often at most */

struct stream {
	struct now *now;
	struct channel *events;
	struct channel *trace;		/* Chrome's format; NULL: nobody asked for it */
	bool behind;			/* there is more to read at once: this is no news */
	bool ended;			/* the last message is in the channels */
	struct stream_private *private;
};

/* Follow the recording in a directory. 0 or a negative errno with err. Free in any case. */
int stream_new(struct stream **s, const char *dir, struct error *err);
void stream_free(struct stream *s);

/* A descriptor that is readable when the recording grew, -1: there is none. */
int stream_fd(const struct stream *s);

/* The descriptor was readable: call stream_run() soon. It becomes readable again only after
 * that. */
void stream_woken(struct stream *s);

/* Read what there is, for some milliseconds at most. Returns after how many nanoseconds it must be
 * called again, if the descriptor is not readable before; -1: the recording has ended. */
int64_t stream_run(struct stream *s);

/* Begin the trace from the start of the recording: the next calls of stream_run() write it. 0 or a
 * negative errno with err. */
int stream_want_trace(struct stream *s, struct error *err);

/* All messages, or all of the trace, are in the channel. */
bool stream_is_over(const struct stream *s, bool trace);

/* Where a consumer begins: behind an id (NULL or "": at the start), or at the end. */
int stream_place(const struct stream *s, struct channel_place *place, const char *id, bool history);

/* channel_read() of the events. Ids go back for nobody: what a consumer had elsewhere may be more
 * than we have read yet. */
int stream_read(const struct stream *s, struct channel_place *place, size_t most, struct buf *out);

/* A message for one consumer that missed others. */
void stream_add_gap(const struct stream *s, struct buf *out);

/* The lines of JSON of messages, each with the members "event" and "at", the id. */
void stream_as_lines(const struct buf *messages, struct buf *out);

#endif
