/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LAUNCH_LAUNCH_H
#define BUILDBEAT_LAUNCH_LAUNCH_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

struct carried;
struct sampler;

/*
 * A command run as if we were not there: our process group and session, our
 * descriptors, the signal mask and dispositions we were started with. While it
 * runs, signals that were sent to us alone are passed on to it, those of the
 * terminal reach it by themselves, and the sampler takes its samples.
 */
struct launch {
	char **argv;
	const char *makefiles;	/* MAKEFILES in its environment; NULL: as it is */
	/* What MAKEFILES names is carried into it by the preload: of build tools
	 * in it the children are tasks. NULL: not. */
	const struct carried *preload;
	bool host;		/* those of it itself, whatever it is */
	struct sampler *sampler;	/* or NULL */
	/* The signal mask of the command; NULL: that of the caller. */
	const sigset_t *mask;
	/* Called in the new process before it becomes the command; it may _exit() (or NULL). */
	void (*entered)(void *context);
	/* Called with the process's number before it runs (or NULL). */
	void (*started)(void *context, pid_t pid);
	void *context;

	/* Results */
	pid_t pid;
	int status;		/* wait(2) status */
	bool not_run;		/* no process was created, or it could not execute the command and has
				   the status 127 or 126 */
	struct rusage usage;	/* of it and all its descendants it waited for */
};

/*
 * Run the command and wait for its end. If it cannot be executed, this is reported as a shell
 * does, and its status is 127 or 126. 0 or a negative errno if no process could be created.
 */
int launch_run(struct launch *l);

/*
 * How the program ends after a command that ended with this wait(2) status: the
 * exit status, or the same signal that killed it. Returns only in the first case
 * (or with 128 + signal where that signal does not kill us).
 */
int launch_exit_status(int status);

/*
 * The exit status of this program after launch_run() returned r. If no process could be
 * created, this process becomes the command instead, unrecorded, and nothing returns.
 */
int launch_end(struct launch *l, int r);

#endif
