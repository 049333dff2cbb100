/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_SEND_ENDPOINT_H
#define BUILDBEAT_SEND_ENDPOINT_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* Where requests go, and how: the environment variables of OpenTelemetry's exporters. */

enum endpoint_signal { ENDPOINT_TRACES, ENDPOINT_METRICS, ENDPOINT_LOGS, ENDPOINT_SIGNALS };

/* Whether the user named a collector and not a file. */
bool endpoint_is_url(const char *text);

/*
 * Replace out by the URL for a signal. text is the URL of a collector, or "http:" or "https:" for
 * that of the environment. 0, or -EINVAL with err: it is no URL, or it has a password, which every
 * user of the machine could read.
 */
int endpoint_url(struct buf *out, const char *text, enum endpoint_signal signal,
		 struct error *err);

/*
 * The next header that the environment has for a signal, as "NAME: VALUE". at is 0 at first. False:
 * there are no more. A header with control characters is left out.
 */
bool endpoint_next_header(struct buf *out, enum endpoint_signal signal, unsigned *at);

/* The signal of a URL: that of the end of its path. */
enum endpoint_signal endpoint_signal_of(const char *url);

/* A number of the environment, or another one if it is missing or wrong. */
int64_t endpoint_number(const char *variable, int64_t otherwise);

#endif
