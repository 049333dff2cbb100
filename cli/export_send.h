/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CLI_EXPORT_SEND_H
#define BUILDBEAT_CLI_EXPORT_SEND_H

#include "base/error.h"
#include "recording/recording.h"

#include <stdbool.h>

/*
 * Send a recording to the collector at url (send/endpoint.h): its metrics and, if traces is set,
 * its traces. The requests are put into the spool first; those that are there already are sent
 * too. quiet: no messages. Returns the exit status, or a negative errno with err.
 */
int export_send(const struct recording *rec, bool traces, const char *url, bool quiet,
		struct error *err);

#endif
