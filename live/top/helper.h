/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LIVE_TOP_HELPER_H
#define BUILDBEAT_LIVE_TOP_HELPER_H

#include "live/top/model.h"

/* Fill in the prediction, whether the build hangs, and the first error of the newest failed task. r: as
 * learnt; running: false: the build has ended, and nothing is predicted. */
void helper_make(struct top_help *h, struct remaining *r, const char *path, bool running);

/* A line of its text, cut between characters. */
struct slice;
void helper_put_line(char to[TOP_LOG_WIDTH], struct slice text);

/* Which of the n lines of an error is the first of TOP_LOG_LINES that are shown, if `at` has the message. */
size_t helper_first_line(size_t at, size_t n);

/* Start the helper: *fd gets its messages, each a struct top_help. A pid, or a negative errno. It
 * ends when nobody reads any more. */
int helper_start(int *fd, const char *path);

#endif
