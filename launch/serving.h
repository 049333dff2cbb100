/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LAUNCH_SERVING_H
#define BUILDBEAT_LAUNCH_SERVING_H

#include "base/buf.h"
#include "base/error.h"

#include <signal.h>
#include <sys/types.h>

/*
 * Start the program buildbeat-serve beside a build (aside.h): it shares nothing with the build, and
 * ends soon after the process `launcher`, whatever ends that. options: further ones of the
 * program, ended by NULL; path: of the recording. It has this mask. url gets where it listens. 0,
 * or a negative errno with err.
 */
int serving_begin(const char *const *options, const char *path, pid_t launcher, const sigset_t *mask,
		  struct buf *url, struct error *err);

#endif
