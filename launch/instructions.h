/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LAUNCH_INSTRUCTIONS_H
#define BUILDBEAT_LAUNCH_INSTRUCTIONS_H

#include <stdbool.h>

struct buf;
struct launch;
struct store;

/*
 * Counts the instructions of all tasks and of the build (sampler/counter.h), if this machine can, and
 * otherwise reports why not. Call it before the ticket is written, which hands this on. created: the
 * recording is our own, and has what is counted.
 */
void instructions_begin(struct store *store, bool created);

/* The lines of `build` with those of the command that was launched. */
void instructions_add_end(struct buf *b, const struct launch *l);

#endif
