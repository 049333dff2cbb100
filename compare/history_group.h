/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_COMPARE_HISTORY_GROUP_H
#define BUILDBEAT_COMPARE_HISTORY_GROUP_H

#include "compare/history.h"

/*
 * Events of h->change, which is put in their order. Steps are one event where one build is
 * in the interval of each: a build is chosen that is in the most and narrowest intervals,
 * then one for those that are left, so that nothing goes from one to the next in a chain.
 * A step goes to the nearest such build. Of twenty intervals one misses its build: a few
 * steps right beside many are taken to be theirs. Creep goes with creep over about the
 * same builds.
 *
 * 0 or -ENOMEM.
 */
int history_group(struct history *h, const struct builds *builds);

#endif
