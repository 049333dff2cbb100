/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_BASE_TRUST_H
#define BUILDBEAT_BASE_TRUST_H

#include "base/error.h"

#include <stdbool.h>
#include <sys/stat.h>

/*
 * Whose files may decide what is loaded, followed, replaced or appended to: those of
 * root and of the effective user, as long as nobody else can write to them. Everybody
 * may write to a directory with the sticky bit, where names belong to their owners. A
 * group may, if the owner is its only member (user-private groups, umask 002).
 *
 * Owners and modes are those of the kernel, not those that fakeroot or pseudo simulate.
 */

/* fstat() by the kernel, not by libc. 0 or a negative errno. */
int trust_fstat(int fd, struct stat *st);

/* Does it belong to root or the effective user, and can only the owner write to it? The user is
 * that at the time of exec, which costs no system call. */
bool trust_is_private(const struct stat *st);

/*
 * 0, or -EPERM with err, which says who owns it or who can write to it, and what to do. The
 * exceptions of trust_except() apply to everything below them.
 */
int trust_check(const char *path, const struct stat *st, struct error *err);

/* The same without exceptions. */
int trust_check_own(const char *path, const struct stat *st, struct error *err);

/* The same for code, which may also belong to the owner of the running program: that user
 * decides what the program does anyway. */
int trust_check_code(const char *path, const struct stat *st, struct error *err);

/*
 * The same for path and for every directory and symbolic link on the way to it, so that
 * nobody else can make it name another file. A path that does not exist yet is trusted if
 * its existing directories are. Other errors are those of the system.
 */
int trust_path(const char *path, struct error *err);

/*
 * The user's exceptions, for the process: below dir neither owners nor modes matter.
 * A directory that is in the list already is ignored. 0, -ENOMEM, or -E2BIG when there are too many.
 */
int trust_except(const char *dir);

#endif
