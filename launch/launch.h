/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LAUNCH_LAUNCH_H
#define BUILDBEAT_LAUNCH_LAUNCH_H

#include "sampler/counter.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

struct arm;
struct carried;
struct pidserver;
struct relay;
struct sampler;

/*
 * Runs a command with the process group, session, descriptors, signal mask and dispositions that
 * we were started with. While it runs, signals that were sent to us alone are passed on to it.
 * Those of the terminal reach it anyway. The sampler takes its samples.
 */
struct launch {
	char **argv;
	const char *traceparent;	/* TRACEPARENT in its environment; NULL: unchanged */
	const char *stats_log;	/* CCACHE_STATSLOG in its environment; NULL: unchanged */
	const char *makefiles;	/* MAKEFILES in its environment; NULL: unchanged */
	/* The preload carries what MAKEFILES names: the children of build tools below the
	 * command are tasks. NULL: no preload. */
	const struct carried *preload;
	const struct arm *arm;	/* programs below it count their allocations; or NULL */
	bool host;		/* the children of the command itself are tasks, too */
	struct sampler *sampler;	/* or NULL */
	struct pidserver *pidserver;	/* starts to answer; or NULL */
	struct store *store;	/* gets the times when the command is suspended; or NULL */
	enum counter_event count;	/* what its processes do, see `counted` */
	struct relay *relay;	/* gets its output; NULL: it has ours */
	/* The signal mask of the command; NULL: that of the caller. */
	const sigset_t *mask;
	/* Called in the new process before it executes the command; may call _exit() (or NULL). */
	void (*entered)(void *context);
	/* Called with the number of the process before it runs (or NULL). */
	void (*started)(void *context, pid_t pid);
	void *context;

	/* Results */
	pid_t pid;
	int status;		/* wait(2) status */
	bool not_run;		/* no process was created, or it could not execute the command and has
				   the status 127 or 126 */
	int64_t counted;	/* user instructions of it and all its descendants; or a negative
				   errno for counter_reason() */
	struct rusage usage;	/* of it and all its descendants it waited for */
};

/*
 * Run the command and wait for its end. If it cannot be executed, this is reported as a shell
 * does, and its status is 127 or 126. 0 or a negative errno if no process could be created.
 */
int launch_run(struct launch *l);

/*
 * End like a command with this wait(2) status: returns the exit status, or kills this process with
 * the same signal. 128 + signal if that does not end it.
 */
int launch_exit_status(int status);

/*
 * The exit status of this program after launch_run() returned r. If no process could be
 * created, this process becomes the command instead, unrecorded, and nothing returns.
 */
int launch_end(struct launch *l, int r);

#endif
