/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LIVE_ATTACH_H
#define BUILDBEAT_LIVE_ATTACH_H

#include "base/error.h"

#include <stdbool.h>

/*
 * Write the stream of a server (/api/v1/trace) to a file until the build ends. After an interruption
 * it connects again. Messages go on where they were; a trace is written again from its beginning,
 * which needs a file.
 */
struct attach_options {
	const char *url;	/* http://HOST:PORT/?token=T&rec=ID, https:..., unix:PATH?token=T */
	const char *ca_file;	/* of TLS; NULL: those of the system */
	bool events;		/* lines of JSON instead of Chrome's trace */
	bool no_history;
	bool replies;		/* instead of a stream, see below */
	int fd;			/* where it is written to */
};

/*
 * With `replies`, these are asked for again and again, below /api/v1/, until the output is closed. It gets pieces,
 * each a line "WHAT LENGTH" and LENGTH bytes: of a reply with its name, "round" after all of them, "lost" when the
 * server does not answer any more, which is tried again without end, and "error" with the reason at the end.
 */
#define ATTACH_REPLIES "now", "stats", "ps", "remaining", "overview"

/* 0 after the end; -ECONNRESET if the server is gone; -EINVAL, -EPERM or another negative errno;
 * with err. */
int attach_run(const struct attach_options *o, struct error *err);

#endif
