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

/*
 * One process's part in a recording: what the C ABI calls a session, and what
 * the make host writes through. Either it joined a recording (the launcher, or
 * another process, samples), or it began one: then it owns `build`, the ticket
 * and the sampling.
 */
struct buildbeat_session {
	_Atomic uint64_t last_task, last_span;
	_Atomic bool live;	/* opened, and not closed */
	bool forks;		/* forked children go on with it */
	bool guest;		/* it speaks for another session's instance */
	bool closed;		/* the "close" line is written, or about to be */
	_Atomic bool owner;
	struct peak peak;
	struct beat beat;	/* the owner's */
	struct store store;	/* last, the paths: what is used lies together */
	struct ticket ticket;	/* the owner's */
};

/* Who speaks: for the "open" line and for `build`. */
struct session_host {
	const char *tool, *version, *command;
	int32_t level;		/* own nesting depth, or -1 */
	int64_t interval_ms;	/* of an owner's samples, 0 or less: none */
	enum store_access access;	/* to a recording that this session begins */
	const char *redact;	/* its patterns in the form of redact_add_words(); NULL: none */
	const char *instance;	/* to speak for when joining a directory, NULL: its own */
	struct buf *first;	/* gets the "open" line, to be appended later; NULL: at once */
	bool forks;
};

/* Join the recording of the environment, or the one in a directory. 0 or a
 * negative errno (-ENOENT: there is none). */
int session_join(struct buildbeat_session *s, const struct session_host *host);
int session_join_dir(struct buildbeat_session *s, const char *dir,
		     const struct session_host *host, struct error *err);

/* The value of a word in store_access_words; NULL and any other word mean the user alone. */
enum store_access session_access(const char *word);

/* Begin one: BASE/NAME, see store_create(). */
int session_begin(struct buildbeat_session *s, const char *base, const char *name,
		  const struct session_host *host, struct error *err);

/* Is it open, in this very process (or a child of it, where it forks), and can it
 * still write. */
bool session_is_live(const struct buildbeat_session *s);

/* A fresh number for a task. */
uint64_t session_next_task(struct buildbeat_session *s);

/* A remark of the instance's own. */
void session_note(struct buildbeat_session *s, const char *text);

/* The owner's last lines, sample and all: status is wait(2)'s, or -1. No-op for
 * others, and the second time. */
void session_end_build(struct buildbeat_session *s, int32_t status);

/* Add the "close" line to b, to append it together with other lines. Call it before
 * session_close(), which then writes none. */
void session_add_close(struct buildbeat_session *s, struct buf *b);

/* session_end_build() where that was not called, the "close" line, and what was opened is
 * closed. No other thread may use the session any more. */
void session_close(struct buildbeat_session *s, int32_t status);

/* The same where the process ends, perhaps in a signal handler: no memory is freed. */
void session_exit(struct buildbeat_session *s, int32_t status);

/* This process replaces itself by exec, and will join again as the owner. */
void session_suspend(struct buildbeat_session *s);

#endif
