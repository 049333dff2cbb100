/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LAUNCH_ASIDE_H
#define BUILDBEAT_LAUNCH_ASIDE_H

#include <signal.h>

/*
 * Make this process, which the launcher has just forked, one that works beside the build: in a
 * session of its own, so that a terminal's signals for the build are not for it; behind other
 * processes; with the usual effects of signals and this mask. Only fd (-1: none) stays open and is
 * returned, moved to 3; standard input, output and error are /dev/null.
 */
int aside_settle(const char *name, int fd, const sigset_t *mask);

#endif
