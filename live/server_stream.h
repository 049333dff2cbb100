/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LIVE_SERVER_STREAM_H
#define BUILDBEAT_LIVE_SERVER_STREAM_H

#include "live/server.h"

/* The endpoints of streams; for endpoints.c. */
extern const struct endpoint server_stream_endpoints[];

#endif
