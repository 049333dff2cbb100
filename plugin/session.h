/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_PLUGIN_SESSION_H
#define BUILDBEAT_PLUGIN_SESSION_H

#include "base/error.h"
#include "plugin/beat.h"
#include "plugin/ticket.h"
#include "recording/store.h"
#include "recording/store_create.h"
#include "sampler/peak.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

/*
 * The part of one process in a recording: a session of the C ABI, and the output of the make host.
 * It either joined a recording, whose samples another process takes, or began one. Then it owns
 * `build`, the ticket and the sampling.
 */
struct buildbeat_session {
	_Atomic uint64_t last_task, last_span;
	_Atomic bool live;	/* open */
	bool forks;		/* forked children use it, too */
	bool guest;		/* it belongs to the instance of another session */
	bool closed;		/* the "close" line is written or about to be */
	_Atomic bool owner;
	bool follows_children;	/* every child must be a task: see session_follow_children() */
	int64_t reaped;		/* children that the host has waited for since then */
	struct rusage before;	/* of the children before */
	struct peak peak;
	struct beat beat;	/* of the owner */
	struct store store;	/* last, with its paths: the parts in use are close together */
	struct ticket ticket;	/* of the owner */
};

/* The process, for the "open" line and for `build`. */
struct session_host {
	const char *tool, *version, *command;
	int32_t level;		/* own nesting depth, or -1 */
	int64_t interval_ms;	/* of an owner's samples; 0 or less: no samples */
	enum store_access access;	/* to a recording that this session begins */
	const char *redact;	/* its patterns in the form of redact_add_words(); NULL: none */
	const char *instance;	/* to belong to when joining a directory; NULL: a new one */
	struct buf *first;	/* gets the "open" line, to be appended later; NULL: write it now */
	bool forks;
};

/* Join the recording of the environment, or the one in a directory. 0 or a negative errno
 * (-ENOENT: there is no recording). */
int session_join(struct buildbeat_session *s, const struct session_host *host);
int session_join_dir(struct buildbeat_session *s, const char *dir,
		     const struct session_host *host, struct error *err);

/* The value of a word in store_access_words. NULL and unknown words mean only the user. */
enum store_access session_access(const char *word);

/* Begin a recording BASE/NAME, see store_create(). */
int session_begin(struct buildbeat_session *s, const char *base, const char *name,
		  const struct session_host *host, struct error *err);

/* Is it open, in this process (or its child, if it forks), and can it be written? */
bool session_is_live(const struct buildbeat_session *s);

/* A new number for a task. */
uint64_t session_next_task(struct buildbeat_session *s);

/* Write a note of the instance. */
void session_note(struct buildbeat_session *s, const char *text);

/* Write the owner's last sample and lines. status is that of wait(2), or -1. No-op for other
 * sessions, and the second time. */
void session_end_build(struct buildbeat_session *s, int32_t status);

/* From now on the host increments `reaped` for every child that it has waited for. The "close" line
 * gets their number and CPU time. */
void session_follow_children(struct buildbeat_session *s);

/* Add the "close" line to b, so that it is appended together with other lines. Call it before
 * session_close(), which then does not write it. */
void session_add_close(struct buildbeat_session *s, struct buf *b);

/* session_end_build() unless it was called, then write the "close" line and release everything.
 * No other thread may use the session any more. */
void session_close(struct buildbeat_session *s, int32_t status);

/* The same if the process ends, perhaps in a signal handler: no memory is freed. */
void session_exit(struct buildbeat_session *s, int32_t status);

/* The process replaces itself by exec, and will join again as the owner. */
void session_suspend(struct buildbeat_session *s);

#endif
