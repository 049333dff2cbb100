/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_BASE_OUTDIR_H
#define BUILDBEAT_BASE_OUTDIR_H

#include "base/error.h"

#include <limits.h>
#include <sys/types.h>

/*
 * A directory that appears whole or not at all: it is made under another name, which begins
 * with a dot, and then renamed.
 */

/* Make an empty directory that will become path, and the parents of path. 0, or a negative errno
 * with err: -EPERM if other users could replace it (base/trust.h). */
int outdir_begin(char dir[PATH_MAX], const char *path, struct error *err);

/* Rename dir to path and set its mode (0: by the umask). 0, or a negative errno and dir is
 * still there; -EEXIST if path exists. */
int outdir_finish(const char *dir, const char *path, mode_t mode);

/* Rename unless `to` exists, not even as an empty directory: -EEXIST then. */
int outdir_rename(const char *from, const char *to);

/* Remove dir and its content. */
void outdir_discard(const char *dir);

#endif
