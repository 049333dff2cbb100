/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_COMPARE_REPEATS_H
#define BUILDBEAT_COMPARE_REPEATS_H

#include "compare/known.h"

/*
 * Recordings repeat a build if they are of the same revisions without uncommitted changes, in the
 * same circumstances and have as many tasks. They begin within 12 hours of the first of them, with
 * no build of other revisions in between. Builds that failed repeat nothing. A slow revision that
 * was recorded five times is thus one slow build, not five.
 */

/* Sets the number of the build that each recording belongs to, and returns how many there are. They
 * are in the order of their newest recording. */
size_t repeats_find(uint32_t *build, const struct builds *builds);

/*
 * Makes one build of all recordings that repeat it: the median. Notes on one of the recordings are
 * about that build. Without any repeat, nothing changes. known may be NULL. Returns 0 or a
 * negative errno with err; builds must be released in either case.
 */
int repeats_join(struct builds *builds, struct known_list *known, struct error *err);

#endif
