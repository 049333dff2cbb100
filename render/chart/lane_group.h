/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RENDER_CHART_LANE_GROUP_H
#define BUILDBEAT_RENDER_CHART_LANE_GROUP_H

#include "render/chart/lanes.h"

/*
 * Tasks by recipe (their key; without one the directory of their instance), by the
 * directory of their target (its first two components) or by kind. Private to
 * lanes.c.
 */
struct lane_groups {
	size_t n_rows;
	char *label[LANE_ROWS_MAX];	/* with most time first; beyond the most: "others" */
	uint8_t *row;			/* of summary.order[i], i < n_ran; hosts have none */
};

/* most: rows. 0 or -ENOMEM. Always release. */
int lane_groups_make(struct lane_groups *g, const struct summary *s, enum lanes_by by,
		     size_t most);
void lane_groups_release(struct lane_groups *g);

#endif
