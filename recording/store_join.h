/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RECORDING_STORE_JOIN_H
#define BUILDBEAT_RECORDING_STORE_JOIN_H

#include "base/error.h"
#include "recording/store.h"

/*
 * A process learns of the recording it belongs to from its ticket: a file named
 * buildbeat.mk, first in the environment's MAKEFILES (the one variable a
 * recorded build sees). It begins with comments for us.
 *	# buildbeat ticket 1 START_NS FLAGS DIRECTORY
 *	# redact PATTERNS
 *
 * START_NS is CLOCK_MONOTONIC at the recording's start, FLAGS the STORE_ bits in decimal.
 * DIRECTORY is the absolute path of the recording, with every byte outside A-Za-z0-9/._-
 * as %HH. The second line exists only if there are patterns, see redact_add_words(). The
 * rest of the file makes GNU make load the plugin (plugin/ticket.c).
 */

/* Join an existing recording by its directory: the start is read from `build`. The
 * caller checks the owner. */
int store_join_dir(struct store *s, const char *path, struct error *err);

/* The ticket's path in a MAKEFILES value, NULL if there is none (its first
 * word, if that ends in /buildbeat.mk); len gets its length. */
const char *store_ticket_path(const char *makefiles, size_t *len);

/* Join the recording of a ticket, which may be s->path; the ticket's first line, written. */
int store_join_ticket(struct store *s, const char *ticket);
void store_add_ticket_line(struct buf *b, const struct store *s);

/* Join the recording the environment names; -ENOENT when it names none. */
int store_join_env(struct store *s);

#endif
