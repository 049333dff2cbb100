/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RECORDING_RECORDING_WRITE_H
#define BUILDBEAT_RECORDING_RECORDING_WRITE_H

#include "recording/recording.h"
#include "recording/store.h"
#include "recording/store_create.h"

#include <limits.h>

/*
 * The tasks, spans and notes of a recording that is too large for memory: next() replaces those in
 * the recording by the next ones, numbered on. It returns 1, 0 at the end, or a negative errno.
 * The instances and everything else are complete before.
 */
struct recording_parts {
	int (*next)(void *context);
	void *context;
};

/*
 * A recording in memory, from wherever it was read, written as ours: a directory
 * BASE/NAME (defaults as for store_create(), NULL name: the time the build
 * started), with `latest` beside it. It is made under another name and renamed when
 * it is whole. Reading it again gives the same recording. path gets where it is.
 * parts NULL: all is in memory.
 */
int recording_write_parts(const struct recording *rec, const struct recording_parts *parts,
			  enum store_access access, const char *base, const char *name,
			  char path[PATH_MAX], struct error *err);

static inline int recording_write(const struct recording *rec, enum store_access access,
				  const char *base, const char *name, char path[PATH_MAX],
				  struct error *err)
{
	return recording_write_parts(rec, NULL, access, base, name, path, err);
}

/* A series as the text of its proc_*.log, which becomes the same series again. 0 or -ENOMEM. */
int recording_series_write(struct buf *text, const struct series *s);

/*
 * One more series of a recording that is being made (it has its arena): from its text, in
 * which is written. Damaged parts are skipped and reported in rec->warning. 0 or -ENOMEM, or
 * -EINVAL for one of a future version.
 */
int recording_series_read(struct recording *rec, const char *name, struct buf *text);

#endif
