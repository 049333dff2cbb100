/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CLI_ARCHIVE_IMPORT_H
#define BUILDBEAT_CLI_ARCHIVE_IMPORT_H

#include "archive/archive.h"

/*
 * What there was before the archive: each path is an archive of oe-build-perf-test
 * (import_oe.h), a recording, or a directory full of recordings, which are added in the
 * order of their start. What cannot be read is told and passed over, and so is what is
 * there already.
 */
struct archive_import {
	struct archive *to;
	const char *host, *branch, *machine;	/* NULL: as it says itself */
	/* A recording to be added. 0 or a negative errno with err. */
	int (*add)(void *context, const char *path, struct error *err);
	/* One that was: prints it. */
	int (*print)(const char *ref, const char *id, bool added);
	void *context;
};

/* 0 or a negative errno with err. */
int archive_import(const struct archive_import *i, const char *const *path, size_t n,
		   struct error *err);

#endif
