/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_BISECT_TOOL_H
#define BUILDBEAT_BISECT_TOOL_H

#include "base/buf.h"

/*
 * Runs another program to its end, with empty input and captured output. It ends with this process,
 * and an interrupt of it is reported.
 */
struct tool {
	char *const *argv;	/* ends with NULL */
	const char *directory;	/* working directory; NULL: ours */
	struct buf *out;	/* gets its standard output; NULL: to log_fd */
	int log_fd;		/* gets its standard error */
};

/* Sets *status to its wait(2) status, with exit status 126 or 127 if it cannot be run. Returns 0,
 * -EINTR if it was interrupted, or another negative errno. */
int tool_run(const struct tool *t, int *status);

/* Reads a whole file from its beginning. Returns 0 or a negative errno. */
int tool_read(struct buf *text, int fd);

#endif
