/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LAUNCH_SERVING_H
#define BUILDBEAT_LAUNCH_SERVING_H

#include "base/buf.h"
#include "base/error.h"

#include <signal.h>
#include <stdint.h>
#include <sys/types.h>

/* How long the server stays after the build without --stay; longer while a page is open. */
#define SERVING_STAY_US(good) ((good) ? INT64_C(10000000) : INT64_C(300000000))

/*
 * Start the program buildbeat-serve beside a build (aside.h): it shares nothing with the build, and
 * ends some time after the process `launcher`, whatever ends that. options: further ones of the
 * program, ended by NULL; path: of the recording. It has this mask. url gets where it listens. Its
 * process, or a negative errno with err.
 */
pid_t serving_begin(const char *const *options, const char *path, pid_t launcher, const sigset_t *mask,
		    struct buf *url, struct error *err);

#endif
