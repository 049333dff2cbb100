/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RENDER_CHART_LANE_PACK_H
#define BUILDBEAT_RENDER_CHART_LANE_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Stretches of time packed into as few lanes as there are at once, each into the
 * lowest that is free: a tree over the lanes, each node the earliest time one below
 * it is free. Stretches come by their start. Private to lanes.c.
 *
 * Where none is free, one that becomes free within LANE_SLACK_US and an eighth of
 * both stretches is taken: hosts stamp a start before they have seen the end that
 * made way for it, and -j4 is four lanes all the same.
 */
#define LANE_SLACK_US 2000

struct stretch {
	int64_t from_us, until_us;
	uint32_t mark;		/* the caller's */
};

struct packed_lane {
	struct stretch last;	/* that ends last; one without length lasts a moment */
	size_t n_tasks;		/* the caller's, as the next */
	int64_t busy_us;
};

struct lane_pack {
	uint32_t most;		/* lanes; where all are taken, stretches overlap */
	bool shared;		/* lanes of several workers: a wanted one counts as free */
	uint32_t n;
	uint32_t size;		/* leaves of the tree, a power of two */
	int64_t *free_us;	/* the root is [1] */
	struct packed_lane *lane;
};

#define LANE_PACK_INIT(most_lanes) { .most = (most_lanes) }
#define NO_LANE UINT32_MAX

void lane_pack_release(struct lane_pack *p);

/* The lane of a stretch: `wanted` (< most) if that is free or shared. 0 or -ENOMEM. */
int lane_pack_put(struct lane_pack *p, const struct stretch *s, uint32_t wanted, uint32_t *lane);

#endif
