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
	bool open;		/* it has not gone on since: */
	int64_t since_us;
};

#define SUSPENDED_INIT { NULL, 0, 0, false, 0 }

/* Add one, or the beginning of one. They are in order; -EBADMSG: one that is not is damaged. 0 or
 * -ENOMEM. */
int suspended_add(struct suspended *s, struct slice value);
void suspended_release(struct suspended *s);

/* All that `build` of a recording has. 0 or -ENOMEM. */
int suspended_find(struct suspended *s, const struct recording *rec);

/* Their sum, as far as memory suffices. */
int64_t suspended_sum_us(const struct recording *rec);

/* Those that have ended: what happens later is not moved until it is known how long this one took. It is
 * not released. */
static inline struct suspended suspended_ended(const struct suspended *s)
{
	struct suspended ended = *s;

	ended.open = false;
	return ended;
}

/*
 * The present time since the start of the build, without them, as far as memory suffices. Nothing says that
 * the launcher is stopped with the build before they go on: the time then ends with the next sample,
 * which was not taken. *stopped: the build is suspended now.
 */
int64_t suspended_elapsed_us(const struct recording *rec, int64_t elapsed_us, bool *stopped);

/* The same for a time of CLOCK_MONOTONIC. -1: nobody knows the start. */
int64_t suspended_since_start_us(const struct recording *rec, int64_t mono_ns);

/* How much of the time before this one is left out. */
int64_t suspended_before(const struct suspended *s, int64_t time_us);

/* The time without it. */
static inline int64_t suspended_move(const struct suspended *s, int64_t time_us)
{
	return time_us > 0 && (s->n || s->open) ? time_us - suspended_before(s, time_us) : time_us;
}

static inline int64_t suspended_move_ms(const struct suspended *s, int64_t time_ms)
{
	return time_ms > 0 && (s->n || s->open) ? time_ms - suspended_before(s, time_ms * 1000) / 1000 : time_ms;
}

#endif
