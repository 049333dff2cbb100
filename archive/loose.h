/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ARCHIVE_LOOSE_H
#define BUILDBEAT_ARCHIVE_LOOSE_H

#include "archive/git.h"

/*
 * Makes a repository read objects that have their own file by the code here, not in libgit2,
 * whose version 1.5 reads a truncated one forever. A damaged object fails by zlib's checksum.
 * Returns 0 or libgit2's code.
 */
int loose_guard(git_repository *git);

#endif
