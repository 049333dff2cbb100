/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LAUNCH_RESULTS_WRITE_H
#define BUILDBEAT_LAUNCH_RESULTS_WRITE_H

#include "base/error.h"
#include "launch/compiler_cache.h"
#include "recording/store.h"

/* When the build has ended and its tasks have their names: write results.log with the files of the
 * tasks (if `files`) and the results of compiler caches, and the counts of the latter to `build`.
 * 0, or a negative errno with err. */
int results_write(struct store *s, bool files, const struct compiler_cache *cache, struct error *err);

#endif
