/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_TRACE_WHOLE_H
#define BUILDBEAT_TRACE_WHOLE_H

#include "recording/recording.h"
#include "trace/sink.h"

/*
 * A whole recording, written to a sink: the tracks of tracks.h, the arrows of flows.h, the critical
 * path, notes, and samples as counters.
 */

#define WHOLE_FLUSH_SIZE ((size_t)256 << 10)

struct whole {
	const struct recording *rec;
	const char *machine;	/* before the names of processes, NULL: nothing */
	uint64_t first_flow;	/* id of the first arrow, from 1; then the id after the last one */
	/* Called with out->len above WHOLE_FLUSH_SIZE. It clears out. 0 or a negative errno. */
	int (*flush)(void *context, struct buf *out);
	void *context;
};

/* Flush if it is due. 0, the error of s->out or what flush returned. */
static inline int whole_flush(const struct whole *w, struct sink *s)
{
	if (buf_error(&s->out))
		return buf_error(&s->out);
	return s->out.len > WHOLE_FLUSH_SIZE ? w->flush(w->context, &s->out) : 0;
}

/* All but begin and end. 0, -ENOMEM or what flush returned. */
int whole_write(struct sink *s, struct whole *w);

#endif
