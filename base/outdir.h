/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_BASE_OUTDIR_H
#define BUILDBEAT_BASE_OUTDIR_H

#include "base/error.h"

#include <limits.h>
#include <sys/types.h>

/*
 * A directory that appears whole or not at all: made beside, under a name that begins
 * with a dot, then renamed.
 */

/* Make a directory to fill, which will become path, and the parents of path. 0, or
 * a negative errno with err: -EPERM where others could exchange it (base/trust.h). */
int outdir_begin(char dir[PATH_MAX], const char *path, struct error *err);

/* Rename dir to path and set its mode (0: by the umask). 0, or a negative errno and dir is
 * still there; -EEXIST if path exists. */
int outdir_finish(const char *dir, const char *path, mode_t mode);

/* Remove dir and its content. */
void outdir_discard(const char *dir);

#endif
