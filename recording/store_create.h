/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RECORDING_STORE_CREATE_H
#define BUILDBEAT_RECORDING_STORE_CREATE_H

#include "base/error.h"
#include "recording/store.h"

#include <limits.h>
#include <sys/types.h>

/* Begin a recording. */

/* Who may read a recording: its directory has the mode store_dir_mode(), and every file in
 * it has the mode of the directory without the execute bits. The umask has no effect. */
enum store_access { STORE_ACCESS_USER, STORE_ACCESS_GROUP, STORE_ACCESS_ALL };

extern const char *const store_access_words[];	/* ends with NULL */
mode_t store_dir_mode(enum store_access access);

/*
 * Create the directory and its parents, with `build`, which has its first line and the clock
 * anchor, and tasks.log, which has its first line. base NULL: LAYOUT_BASE; name NULL: the time in
 * UTC, with -2, -3 ... appended if that is taken. A name that is taken is -EEXIST, a base where
 * others could replace the recording is -EPERM (base/trust.h). On failure nothing is left, and
 * err says which path failed. The descriptors are those of file_open_at().
 *
 * The caller adds what else belongs to the beginning, then calls store_begun(), which points the
 * link `latest` to the recording. If it cannot, it calls store_abandon(), which closes and
 * removes the recording. Until then a lock on `build`, which ends with the process, says to readers
 * that the recording is being made.
 */
int store_create_for(struct store *s, enum store_access access, const char *base,
		     const char *name, struct error *err);
void store_begun(struct store *s);
void store_abandon(struct store *s);

/* Both steps, with access for the user alone. */
int store_create(struct store *s, const char *base, const char *name, struct error *err);

/* Make a directory of recordings and its parents. Nobody else can write to them; those who
 * may read a recording can reach it. */
int store_make_base(const char *path, enum store_access access, struct error *err);

/* mkdir BASE/NAME, for the user alone, into path. Without a name it is the time, with -2, -3 ... if that
 * is taken. base is absolute. 0 or a negative errno with err. */
int store_make_dir(char path[PATH_MAX], enum store_access access, const char *base,
		   const char *name, struct error *err);

/* BASE/latest -> the recording in path, replaced in one step; a failure is ignored. */
void store_link_latest(const char *base, const char *path);

#endif
