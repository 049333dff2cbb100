#ifndef BUILDBEAT_LOOSE_H
#define BUILDBEAT_LOOSE_H

#include <git2.h>

/*
 * Is an object that lies in a file of its own there to its end: libgit2 1.5 reads one that
 * was cut, as a full disk or a power cut leave it, for ever. 0, also for what is in no such
 * file; -EIO, -ENOMEM.
 */
int loose_check(git_repository *git, const git_oid *id);

#endif
