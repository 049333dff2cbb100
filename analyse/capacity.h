/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_CAPACITY_H
#define BUILDBEAT_ANALYSE_CAPACITY_H

#include <stddef.h>
#include <stdint.h>

/*
 * Something of which only so many can be used at once, such as the workers of a host or the places
 * of a pool, and when all were in use. Times are in order and never negative.
 */
struct capacity {
	int64_t limit;
	int64_t n, most;	/* in use; the largest so far */
	int64_t full_us;	/* since when it is full, if it is */
	size_t n_full;
	struct capacity_full {	/* when it was full */
		int64_t from_us, to_us;
		int64_t sum_us;	/* for how long before, once closed */
	} *full;
	int64_t slack_us;
	size_t near;		/* private: where the last search ended */
};

/* One more, or one less, is used from this time on. 0 or -ENOMEM. */
void capacity_enter(struct capacity *g, int64_t time_us);
int capacity_leave(struct capacity *g, int64_t time_us);

/* When all have left: call before the following. Between two times it was full and not, for at
 * most the slack, it counts as full. */
void capacity_close(struct capacity *g, int64_t slack_us);
void capacity_release(struct capacity *g);

/*
 * For how long somebody who entered at `until_us`, or was about to, waited for it since from_us. If
 * it became free for a moment and another entered, that was still waiting; the moment before the
 * own entry is not. *last_us, unless NULL, is when that wait ended, at least from_us.
 */
int64_t capacity_waited_us(struct capacity *g, int64_t from_us, int64_t until_us,
			   int64_t *last_us);

/* When both were full, as a closed one. 0 or -ENOMEM. */
int capacity_both(struct capacity *both, const struct capacity *a, const struct capacity *b);

/* For how long it was full in [from, to), with the gaps. */
int64_t capacity_full_us(struct capacity *g, int64_t from_us, int64_t to_us);

#endif
