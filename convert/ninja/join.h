/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CONVERT_NINJA_JOIN_H
#define BUILDBEAT_CONVERT_NINJA_JOIN_H

#include "base/cursor.h"
#include "recording/recording.h"
#include "recording/store.h"

/* The directory in which a ninja runs its tasks, after -C: a text of the caller. 0 or -ENOMEM. */
int ninja_directory(char **dir, const struct instance *in);

/*
 * A host of ninja or samurai sees only commands. After the build, build.ninja and .ninja_log give
 * each task its name (its first output) and its rule as the key. They also have its other outputs,
 * and the tasks of the same ninja that it waited for. These lines are appended to the recording. A
 * task is found in build.ninja by its command, otherwise in the log by the hash of its command;
 * otherwise it stays without a name. A missing file is no error. 0, or a negative errno.
 */
int ninja_join(struct store *s);

/*
 * The same while a recording is read whose launcher was killed, or that had none. The lines are
 * added to `lines`, for recording_options. The author of the recording chose the directories.
 * Therefore only files that infile_read_ours() accepts are read, and a task gets a name only if the
 * hash of its command is in them. 0 or -ENOMEM.
 */
int ninja_join_unnamed(struct buf *lines, const struct recording *rec);

#endif
