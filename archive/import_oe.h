/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ARCHIVE_IMPORT_OE_H
#define BUILDBEAT_ARCHIVE_IMPORT_OE_H

#include "archive/archive.h"

/*
 * The archives of oe-build-perf-test, as oe-git-archive makes them: a branch
 * HOST/BRANCH/MACHINE, a commit a test run with results.json and metadata.json (older ones:
 * .xml), and below refs/notes/buildstats/ the buildstats of its measurements.
 *
 * Of each run become builds
 *	HOST/BRANCH/MACHINE		its tests and measurements, as tasks
 *	HOST/BRANCH/MACHINE.TEST.NAME	the tasks of a measurement of which there are buildstats
 * in the order of the commits. A disk usage is what a measurement has written.
 */
struct import_oe {
	struct archive *to;
	const char *host, *branch, *machine;	/* NULL: as the run says */
	/* One more is there; a negative errno ends it. */
	int (*told)(void *context, const char *ref, const char *id, bool added);
	/* One was passed over, and why. */
	void (*passed)(void *context, const struct error *why);
	void *context;
};

/* Is there such an archive in this directory. */
bool import_oe_is(const char *path);

/* All of it; 0 or a negative errno with err. */
int import_oe(const struct import_oe *i, const char *path, struct error *err);

#endif
