/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LAUNCH_TRACER_H
#define BUILDBEAT_LAUNCH_TRACER_H

#include "base/error.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The process that writes a trace of the build while it runs. It reads the recording, as any number
 * of others can, and shares nothing with the build. So a full disk or a slow reader of the trace
 * stops this process alone. It goes on if the launcher is killed, and ends with the recording.
 */

/* What it runs: the recording in that directory as a trace to fd. final: nothing more will be
 * appended. written: bytes. 0 or a negative errno with err. */
typedef int tracer_function(const char *recording, const char *file, int fd, _Atomic bool *final,
			    _Atomic uint64_t *written, struct error *err);

struct tracer {
	pid_t pid;		/* 0: there is none */
	const char *file;	/* of the caller */
	struct tracer_page *page;
};

/* mask: the signal mask of the process. 0, or a negative errno with err if there is no trace. */
int tracer_begin(struct tracer *t, const char *file, const char *recording,
		 tracer_function *function, const sigset_t *mask, struct error *err);

/* The recording is complete: wait for the rest of the trace as long as it grows. 0, or a negative
 * errno with err if the trace is not whole. */
int tracer_end(struct tracer *t, struct error *err);

/* There is no recording after all. */
void tracer_kill(struct tracer *t);

#endif
