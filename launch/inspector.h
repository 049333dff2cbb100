/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LAUNCH_INSPECTOR_H
#define BUILDBEAT_LAUNCH_INSPECTOR_H

#include "base/error.h"
#include "inspect/watch.h"
#include "launch/arm.h"

#include <signal.h>
#include <sys/types.h>

/*
 * The process that inspects processes of a build while it runs: inspect/watch.h. It shares nothing
 * with the build and ends with the launcher, whatever ends that.
 */
struct inspector {
	pid_t pid;		/* 0: there is none */
	int end_fd;		/* its end ends the process */
	struct watch_result *result;	/* memory that both share */
	struct arm arm;		/* for the environment of the build; rules "": nothing */
	char heap_dir[PATH_MAX];	/* "": none */
	char base[PATH_MAX];
	bool made_base;
};

/*
 * Start it. Of s, rules, heaviest, base (an absolute path), access and the directories of symbols
 * are set. mask: of the process. 0, or a negative errno with err: nothing is inspected.
 * A heap that cannot be counted is reported by notice().
 */
int inspector_begin(struct inspector *i, const struct watch_settings *s, const sigset_t *mask,
		    struct error *err);

/* After the build: wait until the archives are complete, at most 20 seconds; not at once:
 * only until the process has ended. result may be NULL. */
void inspector_end(struct inspector *i, bool at_once, struct watch_result *result);

#endif
