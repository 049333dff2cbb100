/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ARCHIVE_LOOSE_H
#define BUILDBEAT_ARCHIVE_LOOSE_H

#include <git2.h>

/*
 * Read the objects that lie in files of their own here, not in libgit2: its 1.5 reads one
 * that was cut, as a full disk or a power cut leave it, for ever. What is not whole by the
 * checksum that zlib keeps of it fails. 0 or libgit2's code.
 */
int loose_guard(git_repository *git);

#endif
