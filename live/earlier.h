/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LIVE_EARLIER_H
#define BUILDBEAT_LIVE_EARLIER_H

#include "base/error.h"
#include "base/json.h"
#include "compare/remaining.h"

/*
 * Earlier recordings of a build: those beside it that began before it, in the same directory, with
 * the same command except for the number of jobs, on the same machine, and that succeeded.
 */

/* Learn from the newest of them; there may be none. path: of the recording's directory. 0, or a
 * negative errno with err. Free with remaining_free(). */
int earlier_learn(struct remaining **r, const char *path, struct error *err);

/* A member "remaining" of the open object: {"us", "low_us", "high_us", "done_share", "builds",
 * "words"}; null without an earlier build. */
void earlier_json(struct json *j, const struct remaining_estimate *e);

#endif
