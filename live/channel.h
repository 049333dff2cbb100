/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LIVE_CHANNEL_H
#define BUILDBEAT_LIVE_CHANNEL_H

#include "base/buf.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Messages in their order, once for any number of consumers, each of which is a place in it. They
 * are in files without a name in TMPDIR, so memory does not grow with the history, and a late
 * consumer can have all of it. The oldest half is dropped above size_max, so that a build may take as
 * long as it likes; the same happens if the disk is full.
 *
 * A message is of a class and has a number in it, which never decreases from message to message of
 * one class. So a consumer can ask for those after some number of each class.
 */
#define CHANNEL_CLASSES 2
#define CHANNEL_ALWAYS CHANNEL_CLASSES	/* a class without numbers */

struct channel;

int channel_new(struct channel **c, uint64_t size_max);
void channel_free(struct channel *c);

/* 0 or a negative errno: the message is lost, which all consumers get to know. */
int channel_add(struct channel *c, unsigned class, uint64_t number, const void *message, size_t len);

struct channel_place {
	uint64_t offset;
	uint64_t after[CHANNEL_CLASSES];	/* leave out messages up to these numbers */
};

/* Where the next message will be; and where the oldest one is. */
uint64_t channel_end(const struct channel *c);
uint64_t channel_first(const struct channel *c);

/* Set place->offset to a place before which there is nothing after place->after. */
void channel_seek(const struct channel *c, struct channel_place *place);

/* Append whole messages to out, at most about `most` bytes, or one, and move on. 0, -ESTALE if
 * messages at the place are lost or dropped: then it is moved to the oldest one; or another negative errno. */
int channel_read(const struct channel *c, struct channel_place *place, size_t most, struct buf *out);

#endif
