/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_TRACE_LIVE_FOLLOW_H
#define BUILDBEAT_TRACE_LIVE_FOLLOW_H

#include "base/error.h"
#include "recording/recording.h"
#include "trace/sink.h"

#include <stdatomic.h>

/* Writes the live trace of one recording to one descriptor. It reads files only: a reader of the
 * trace that is slow or gone stops this process and nothing else. */

struct live_follow {
	const char *path;	/* of the recording */
	const struct recording_codec *codec;
	const struct sink_ops *format;
	bool packed;		/* by gzip; each batch can be unpacked */
	int fd;
	/* In memory that another process shares, which waits for this one; or NULL. */
	_Atomic bool *final;	/* set by the other: nothing more will be appended */
	_Atomic uint64_t *written;	/* bytes so far */
};

/* Until the recording has ended. 0, or a negative errno with err: -EPIPE if nobody reads the trace
 * any more. */
int live_follow(const struct live_follow *f, struct error *err);

/* The format of a file by its suffix, before ".gz"; Chrome's without a known one. And of a word of --to: NULL if
 * it cannot be written live. */
const struct sink_ops *live_format_of_file(const char *path);
const struct sink_ops *live_format(const char *word);

#endif
