/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_BISECT_TOOL_H
#define BUILDBEAT_BISECT_TOOL_H

#include "base/buf.h"

/*
 * Another program, run to its end and out of the way: its input is empty, what it prints is
 * ours, it ends with us and we with it when someone interrupts.
 */
struct tool {
	char *const *argv;	/* ends with NULL */
	const char *directory;	/* it runs in; NULL: ours */
	struct buf *out;	/* what it says on standard output; NULL: to log */
	int log_fd;		/* what it says else */
};

/* *status gets its wait(2) status, 126 or 127 as exit status if it cannot be run. 0,
 * -EINTR if it was interrupted, or another negative errno. */
int tool_run(const struct tool *t, int *status);

/* All of a file from its beginning. 0 or a negative errno. */
int tool_read(struct buf *text, int fd);

#endif
