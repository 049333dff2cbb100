/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CONVERT_NINJA_JOIN_H
#define BUILDBEAT_CONVERT_NINJA_JOIN_H

#include "base/cursor.h"
#include "recording/recording.h"
#include "recording/store.h"

/* Is this the name of a tool that reads build.ninja: ninja, samu ...? */
bool ninja_is_tool(struct slice name);

/*
 * Whoever records ninja or samurai sees only commands. After the build, build.ninja and
 * .ninja_log give each task its name (its first output), its rule as the key, its other outputs,
 * and the tasks of the same ninja it waited for. Lines with these are appended to the recording.
 * A task is found in build.ninja by its command, otherwise in the log by the hash of its command;
 * a task that is in neither stays without a name. A missing file is no error. 0, or a negative
 * errno.
 */
int ninja_join(struct store *s);

/*
 * The same while a recording is read whose launcher was killed or did not exist: the lines are
 * added to `lines`, for recording_options. The author of the recording chose the directories:
 * therefore only files that infile_read_ours() accepts are read, and a task gets a name only if
 * the hash of its command is in them. 0 or -ENOMEM.
 */
int ninja_join_unnamed(struct buf *lines, const struct recording *rec);

#endif
