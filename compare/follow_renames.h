/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_COMPARE_FOLLOW_RENAMES_H
#define BUILDBEAT_COMPARE_FOLLOW_RENAMES_H

#include "compare/builds.h"

/*
 * Follows tasks through their renames, so that a task keeps its history.
 *
 * A task that is gone from a whole build (presence.h), and one that is new in it or came back, are
 * one task if renames.h pairs them. A pair is dropped if both names run in the same build at any
 * time, or if they alternate: n names of a task change places at most n times, which allows
 * a -> b -> c and a -> b -> a.
 */

/* Joins renamed tasks of all builds under their newest name, and sets builds->presence. It looks
 * at all builds, so that the result depends on those that were read. Returns 0 or a negative
 * errno with err. */
int follow_renames(struct builds *builds, struct error *err);

#endif
