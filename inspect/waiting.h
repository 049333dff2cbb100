/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_INSPECT_WAITING_H
#define BUILDBEAT_INSPECT_WAITING_H

#include "base/buf.h"

#include <stdint.h>

/*
 * What a process waits for, as /proc says now: its state, and of its first thread the system call
 * with the file that it is about, or the function of the kernel where the call may not be read.
 */
struct waiting {
	char state;		/* as in /proc/PID/stat; '\0': the process has ended */
	char call[32];		/* "" as the next ones: not known */
	char file[256];		/* "/dev/pts/1", "pipe:[7]" */
	char channel[64];
};

void waiting_read(struct waiting *w, int proc_fd, int32_t pid);

/* "is in read() of /dev/pts/1", "is stopped by a signal": to follow a name. Safe to print. */
void waiting_words(struct buf *b, const struct waiting *w);

#endif
