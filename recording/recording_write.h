/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RECORDING_RECORDING_WRITE_H
#define BUILDBEAT_RECORDING_RECORDING_WRITE_H

#include "recording/recording.h"
#include "recording/store.h"
#include "recording/store_create.h"

#include <limits.h>

/*
 * A recording in memory, from wherever it was read, written as ours: a directory
 * BASE/NAME (defaults as for store_create(), NULL name: the time the build
 * started), with `latest` beside it. It is made under another name and renamed when
 * it is whole. Reading it again gives the same recording. path gets where it is.
 */
int recording_write(const struct recording *rec, const char *base, const char *name,
		    char path[PATH_MAX], struct error *err);
/* recording_write() is for the user alone. */
int recording_write_for(const struct recording *rec, enum store_access access, const char *base,
			const char *name, char path[PATH_MAX], struct error *err);

#endif
