/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LAUNCH_REPETITION_H
#define BUILDBEAT_LAUNCH_REPETITION_H

#include "base/error.h"
#include "launch/launch.h"
#include "launch/whereabouts.h"
#include "launch/settings.h"

#include <limits.h>

/*
 * A set of recordings of the same build (analyse/runs.h) while it is made: the directory of the
 * set is the directory of recordings of its runs. Each is on disk when the next begins, so that
 * the set of a killed process can be read.
 */
struct repetition {
	const struct settings *settings;
	char path[PATH_MAX];	/* of the set, absolute */
	struct whereabouts where;
	const char *shell[4];	/* the command line of settings->prepare */
	unsigned done;		/* good runs */
};

/* Makes the directory with the file `set`, and lets `latest` name it. 0 or a negative errno with err,
 * and nothing is left. */
int repetition_begin(struct repetition *r, const struct settings *settings, char *const *argv,
		     struct error *err);

/* Runs settings->prepare, if there is one, as the shell command l. False if it failed or removed the
 * set, which is reported: l has its status, and the repetition ends. */
bool repetition_prepare(const struct repetition *r, struct launch *l);

/* Counts a good run. */
void repetition_count(struct repetition *r);

/* Removes the set if it has no recording. */
void repetition_end(struct repetition *r);

#endif
