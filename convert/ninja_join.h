#ifndef BUILDBEAT_NINJA_JOIN_H
#define BUILDBEAT_NINJA_JOIN_H

#include "error.h"
#include "store.h"

/*
 * Whoever records ninja or samurai sees commands only. Once the build is over, what
 * build.ninja and .ninja_log say of them is appended to the recording: the name of
 * each task (its first output) with its rule as the key, its other outputs, and
 * which other tasks of the same ninja it waited for. A task is found by the text of
 * its command, in build.ninja else by its hash in the log; one that is in neither
 * stays as it was. Nothing that is missing is an error. 0, or a negative errno.
 */
int ninja_join(struct store *s);

#endif
