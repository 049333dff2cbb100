/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_COMPARE_HISTORY_GROUP_H
#define BUILDBEAT_COMPARE_HISTORY_GROUP_H

#include "compare/history.h"

/*
 * Groups h->change into events and sorts it by them. Steps belong to one event if one build is in
 * the interval of each. The build in the most and narrowest intervals is chosen first, then
 * one for the remaining steps, so that chains of intervals are not merged. A step goes to the
 * nearest chosen build. Because one of twenty intervals misses its build, a few steps beside
 * many are added to those. Creep is grouped with creep over about the same builds.
 *
 * Returns 0 or -ENOMEM.
 */
int history_group(struct history *h, const struct builds *builds);

#endif
