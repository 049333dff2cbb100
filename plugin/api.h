/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_PLUGIN_API_H
#define BUILDBEAT_PLUGIN_API_H

#include "base/buf.h"
#include "plugin/buildbeat_plugin.h"
#include "plugin/session.h"
#include "plugin/span.h"
#include "recording/event.h"
#include "recording/identity.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/resource.h>

/* What the files of the C ABI have in common. */

#define API_STARTS 32

/* The resources that this process had used when a task started in it. */
struct api_start {
	_Atomic uint64_t task;	/* 0: free, UINT64_MAX: being read or written */
	int64_t setup_us;	/* since the process was started for the task, 0: it was not */
	struct rusage usage;
};

/*
 * A session as the host sees it. Any thread may call a function while another one closes the
 * session: close() ends the build, and the last thread that leaves releases the rest. The memory
 * of a closed session is kept for the next one, so a late call finds a closed session.
 */
struct api_session {
	struct buildbeat_session session;	/* first: the host has its address */
	_Atomic bool open;
	_Atomic bool closing;	/* the last user is to release it */
	_Atomic unsigned users;	/* calls in progress, and 1 while it is open */
	_Atomic uint64_t build_span;	/* of build_started(), 0: none */
	_Atomic bool places;	/* record where spans begin */
	_Atomic bool watched;	/* spans.watch has an event */
	_Atomic int identified;	/* 0; 1: identity is being written; 2: it is valid */
	struct identity identity;
	struct span_table spans;
	_Atomic unsigned n_starts;
	_Atomic bool forgot;	/* a start was replaced by a later one */
	struct api_start start[API_STARTS];
	struct api_session *next;	/* of the closed sessions */
};

static inline struct api_session *api_session_of(struct buildbeat_session *s)
{
	return (struct api_session *)s;
}

/* A call by the host: errno is kept, and the thread cannot be cancelled in it. */
struct api_guest {
	int saved_errno, cancel_state;
};

/* False: the session cannot be written to; then there is nothing to leave. */
bool api_enter(struct buildbeat_session *s, struct api_guest *guest);
void api_leave(struct buildbeat_session *s, const struct api_guest *guest);

/* A line of tasks.log in a call. False: the session cannot be written to. */
struct api_line {
	struct api_guest guest;
	struct buf buf;
	char text[EVENT_MAX + 1];
	int64_t t;
};

bool api_begin_line(struct api_line *line, struct buildbeat_session *s);

/*
 * The host's struct may be older than ours (shorter: out keeps its values for the rest) or newer
 * (longer: the rest is ignored). False: there is no struct.
 */
bool api_take(void *out, size_t out_size, const void *in);

/* Spans, of api_spans.c */
uint64_t api_spans_begin(struct buildbeat_session *s, uint64_t task, const char *name);
void api_spans_end(struct buildbeat_session *s, uint64_t task, uint64_t span);
uint64_t api_spans_open(struct buildbeat_session *s, const struct buildbeat_span *given);
size_t api_spans_stack(struct buildbeat_session *s, int32_t kind, char *out, size_t size);
void api_spans_watch(struct buildbeat_session *s,
		     void (*event)(const struct buildbeat_span_event *event, void *data),
		     void *data);
int32_t api_spans_places(struct buildbeat_session *s, int32_t on);
size_t api_spans_traceparent(struct buildbeat_session *s, uint64_t task, char *out, size_t size);

/* Tallies, of api_tallies.c */
int32_t api_tallies_set(struct buildbeat_session *s, const struct buildbeat_tallies *given);
void api_tallies_phase(struct buildbeat_session *s, const char *name);
void api_tallies_snapshot(struct buildbeat_session *s,
			  void (*row)(const struct buildbeat_tally *row, void *data), void *data);
int32_t api_tallies_dump(struct buildbeat_session *s, int32_t fd);
void api_tallies_reset(struct buildbeat_session *s);

/* The process that calls: of a session that forked children use, too, not the one that opened
 * it. */
int32_t api_pid(const struct buildbeat_session *s);

#endif
