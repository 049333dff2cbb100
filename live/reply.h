/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LIVE_REPLY_H
#define BUILDBEAT_LIVE_REPLY_H

#include "live/route.h"

/*
 * Make the reply to a request: find its route, decode the query, call. Errors become a status and
 * {"error": "..."}. Always release out->body.
 */
void reply_make(struct reply *out, struct source *source, const char *path, const char *query,
		size_t query_len, enum route_control control);

/* The JSON body of an error. */
void reply_error(struct buf *body, const char *message);

/* Is the route about one recording: has it the parameter rec? */
bool reply_needs_recording(const struct route *route);

#endif
