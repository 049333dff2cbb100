/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ARCHIVE_IMPORT_OE_H
#define BUILDBEAT_ARCHIVE_IMPORT_OE_H

#include "archive/archive.h"

/*
 * Imports archives of oe-build-perf-test, as oe-git-archive writes them: a branch
 * HOST/BRANCH/MACHINE and a commit for each test run, with results.json and metadata.json (older
 * ones have .xml). Notes below refs/notes/buildstats/ have the buildstats of its measurements.
 *
 * Each run becomes the builds
 *	HOST/BRANCH/MACHINE		its tests and measurements as tasks
 *	HOST/BRANCH/MACHINE.TEST.NAME	the tasks of a measurement with buildstats
 * in the order of the commits. A measured disk usage becomes the bytes written.
 */
struct import_oe {
	struct archive *to;
	const char *host, *branch, *machine;	/* NULL: from the run */
	/* Called for each build; a negative errno stops the import. */
	int (*added)(void *context, const char *ref, const char *id, bool is_new);
	/* Called for each run that was skipped. */
	void (*skipped)(void *context, const struct error *why);
	void *context;
};

/* Whether the directory has such an archive. */
bool import_oe_is(const char *path);

/* Imports all runs. Returns 0 or a negative errno with err. */
int import_oe(const struct import_oe *i, const char *path, struct error *err);

#endif
