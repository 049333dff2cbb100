/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ARCHIVE_GIT_H
#define BUILDBEAT_ARCHIVE_GIT_H

/* libgit2 from 1.1 on: since 1.9 the functions that set its error have a header of their own. */
#include <git2.h>
#if __has_include(<git2/sys/errors.h>)
#include <git2/sys/errors.h>
#endif

#if LIBGIT2_VER_MAJOR == 1 && LIBGIT2_VER_MINOR < 5
#define GIT_EOWNER (-36)	/* they do not look whose a repository is */
#endif

#endif
