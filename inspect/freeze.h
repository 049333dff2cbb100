/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_INSPECT_FREEZE_H
#define BUILDBEAT_INSPECT_FREEZE_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Stops a process while its mappings and its heap are read, so that both agree.
 *
 * The process continues whatever happens to us. Before it is stopped, a guard is forked: a process
 * in a session of its own that waits for the end of a socket whose other end only we have. At that
 * end, or after FREEZE_MAX_US, it continues the process. Signals are sent by pidfd, so that no
 * other process that got the same number is signalled.
 *
 * A process that somebody else has stopped is not touched: it is frozen already and stays so.
 */
#define FREEZE_MAX_US INT64_C(5000000)

struct freeze {
	int pid_fd;		/* of the caller */
	pid_t guard;		/* 0: the process was stopped by somebody else */
	int socket;		/* its end continues the process */
	int64_t until_ns;	/* the guard continues the process then, CLOCK_MONOTONIC */
};

/*
 * Stop the process pid, of which pid_fd is a pidfd, for about expected_us. Returns when all its
 * threads are stopped. 0, or a negative errno with err, and the process runs: -ETIME if
 * expected_us is more than FREEZE_MAX_US, -EBUSY if a debugger or a shell with job control would
 * notice it, -EPERM.
 */
int freeze_begin(struct freeze *f, pid_t pid, int pid_fd, int64_t expected_us, struct error *err);

/* Continue the process. True: it was stopped all the time. */
bool freeze_end(struct freeze *f);

#endif
