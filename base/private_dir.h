/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_BASE_PRIVATE_DIR_H
#define BUILDBEAT_BASE_PRIVATE_DIR_H

#include <limits.h>
#include <stdbool.h>

/*
 * A directory for files of this user that other processes of the user find: NAME in
 * XDG_RUNTIME_DIR, otherwise NAME-UID in TMPDIR or /tmp; and NAME in the user's state directory if
 * another user made those. Nobody else can read or write it, or make
 * its path name another. Those who read look where it would be made.
 *
 * True with path, and with fd: its descriptor, or -1 if it does not exist (only without make).
 */
bool private_dir_find(char path[PATH_MAX], const char *name, bool make, int *fd);

#endif
