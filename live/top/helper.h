/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LIVE_TOP_HELPER_H
#define BUILDBEAT_LIVE_TOP_HELPER_H

#include "live/top/model.h"

/* Fill in the prediction, whether the build hangs, and the last lines of the newest failed task. r: as
 * learnt; running: false: the build has ended, and nothing is predicted. */
void helper_make(struct top_help *h, struct remaining *r, const char *path, bool running);

/* Start the helper: *fd gets its messages, each a struct top_help. A pid, or a negative errno. It
 * ends when nobody reads any more. */
int helper_start(int *fd, const char *path);

#endif
