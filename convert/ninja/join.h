/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CONVERT_NINJA_JOIN_H
#define BUILDBEAT_CONVERT_NINJA_JOIN_H

#include "base/error.h"
#include "recording/recording.h"
#include "recording/store.h"

/*
 * Whoever records ninja or samurai sees commands only. Once the build is over, what
 * build.ninja and .ninja_log say of them is appended to the recording: the name of
 * each task (its first output) with its rule as the key, its other outputs, and
 * which other tasks of the same ninja it waited for. A task is found by the text of
 * its command, in build.ninja else by its hash in the log; one that is in neither
 * stays as it was. Nothing that is missing is an error. 0, or a negative errno.
 */
int ninja_join(struct store *s);

/*
 * The same for a recording that is being read, whose launcher was killed or which had none:
 * the lines are added to `lines`, for recording_options. The author of the recording
 * chose the directories: so only files that infile_read_ours() accepts are read, and a name is
 * found only by the hash of a command. 0 or -ENOMEM.
 */
int ninja_join_unnamed(struct buf *lines, const struct recording *rec);

#endif
