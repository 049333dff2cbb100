/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LAUNCH_PAUSE_H
#define BUILDBEAT_LAUNCH_PAUSE_H

#include "recording/store.h"

#include <stdint.h>

/*
 * When the command is suspended, by ^Z or SIGSTOP. If it alone is stopped, wait4() says when. If the
 * launcher is stopped with it, only the end is known, by SIGCONT. Then the beginning is the next
 * sample that was not taken: at most an interval too late.
 */
struct pause {
	struct store *store;	/* gets lines of `build`; NULL: none */
	int64_t from_ns;	/* 0: not suspended */
	int64_t until_ns;	/* of the last time */
	bool written;		/* the beginning is a line of `build` */
};

/* wait4() returned this status of the command. */
void pause_status(struct pause *p, int status);

/* SIGCONT was received; a sample was due at that time. */
void pause_continued(struct pause *p, int64_t due_ns);

/* The command has ended. */
void pause_end(struct pause *p);

#endif
