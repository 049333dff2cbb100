/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CLI_PROCESS_ENV_H
#define BUILDBEAT_CLI_PROCESS_ENV_H

#include "base/buf.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/* What the environment of another process says. */

/* Its texts NAME=VALUE, each with a NUL. False: it is not readable or empty. */
bool process_env_read(struct buf *out, int32_t pid);

/* The value of a variable in them, or NULL. */
const char *process_env_value(const struct buf *environment, const char *name);

/* The recording that it belongs to, if nobody else can write to that. */
bool process_env_recording(char path[PATH_MAX], const struct buf *environment);

#endif
