/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CLI_EXPORT_SEND_H
#define BUILDBEAT_CLI_EXPORT_SEND_H

#include "base/error.h"
#include "recording/recording.h"
#include "send/endpoint.h"

#include <stdbool.h>

/*
 * Send a recording to the collector at url (send/endpoint.h): each signal whose bit is set in
 * signals, 1 << enum endpoint_signal. The requests are put into the spool first; those that are
 * there already are sent too. quiet: no messages. Returns the exit status, or a negative errno
 * with err.
 */
#define EXPORT_SEND_ALL ((1u << ENDPOINT_SIGNALS) - 1)
int export_send(const struct recording *rec, unsigned signals, const char *url, bool quiet,
		struct error *err);

/* The same of all signals of the recording in a directory by a process of its own, which nobody
 * waits for. It has a low priority and says nothing. What it cannot send stays in the spool. */
void export_send_later(const char *recording, const char *url);

#endif
