/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CLI_EXPORT_PATH_H
#define BUILDBEAT_CLI_EXPORT_PATH_H

#include "base/buf.h"
#include "base/error.h"

/* The output of `export` without --output: the last part of the recording's path, and the suffix. 0
 * or a negative errno with err. */
int export_default_path(struct buf *out, const char *recording, const char *suffix,
			struct error *err);

/* The error that it exists already. */
int export_exists(const char *path, struct error *err);

#endif
