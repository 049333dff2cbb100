/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RECORDING_SUSPENDED_H
#define BUILDBEAT_RECORDING_SUSPENDED_H

#include "base/cursor.h"
#include "recording/recording.h"

#include <stddef.h>
#include <stdint.h>

/*
 * The times in which a build was suspended, as LAYOUT_SUSPENDED of `build` has them. All readers leave
 * them out: each time afterwards is earlier by that much, and the parts before and after it adjoin.
 */
struct suspended_part {
	int64_t from_us, until_us;
	int64_t before_us;	/* of earlier parts */
};

struct suspended {
	struct suspended_part *part;
	size_t n;
	int64_t sum_us;
};

#define SUSPENDED_INIT { NULL, 0, 0 }

/* Add one. They are in order; -EBADMSG: one that is not is damaged. 0 or -ENOMEM. */
int suspended_add(struct suspended *s, struct slice value);
void suspended_release(struct suspended *s);

/* All that `build` of a recording has. 0 or -ENOMEM. */
int suspended_find(struct suspended *s, const struct recording *rec);

/* Their sum, as far as memory suffices. */
int64_t suspended_sum_us(const struct recording *rec);

/* A time of CLOCK_MONOTONIC since the start of the build, without them, as far as memory suffices. -1: nobody
 * knows the start. */
int64_t suspended_since_start_us(const struct recording *rec, int64_t mono_ns);

/* How much of the time before this one is left out. */
int64_t suspended_before(const struct suspended *s, int64_t time_us);

/* The time without it. */
static inline int64_t suspended_move(const struct suspended *s, int64_t time_us)
{
	return time_us > 0 && s->n ? time_us - suspended_before(s, time_us) : time_us;
}

static inline int64_t suspended_move_ms(const struct suspended *s, int64_t time_ms)
{
	return time_ms > 0 && s->n ? time_ms - suspended_before(s, time_ms * 1000) / 1000 : time_ms;
}

#endif
