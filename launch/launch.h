/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LAUNCH_LAUNCH_H
#define BUILDBEAT_LAUNCH_LAUNCH_H

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
	/* Called in the new process before it becomes the command; it may _exit() (or NULL). */
	void (*entered)(void *context);
	/* Called with the process's number before it runs (or NULL). */
	void (*started)(void *context, pid_t pid);
	void *context;

	/* Results */
	pid_t pid;
	int status;		/* wait(2) status */
	bool not_run;		/* the command could not be executed: status is 127 or 126 */
	struct rusage usage;	/* of it and all its descendants it waited for */
};

/*
 * Run it to its end. What cannot be executed is said as a shell would, with
 * status 127 or 126. Where no process can be made it replaces this one.
 * Returns 0 or a negative errno when not even that is possible.
 */
int launch_run(struct launch *l);

/*
 * How the program ends after a command that ended with this wait(2) status: the
 * exit status, or the same signal that killed it. Returns only in the first case
 * (or with 128 + signal where that signal does not kill us).
 */
int launch_exit_status(int status);

#endif
