/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CLI_SERVE_RUNNING_H
#define BUILDBEAT_CLI_SERVE_RUNNING_H

#include "base/error.h"

#include <limits.h>
#include <stdint.h>

/* serve --list and --stop WHAT: an exit status, or a negative errno with err. base: as for
 * listing_find(). */
int serve_running_list(struct error *err);
int serve_running_stop(const char *what, const char *base, struct error *err);

/* The recording and the launcher of a running build: what is its name or path, or the PID of its
 * launcher or of any process of the build. 0, or a negative errno with err. */
int serve_running_find(char path[PATH_MAX], int32_t *launcher, const char *what, const char *base,
		       struct error *err);

#endif
