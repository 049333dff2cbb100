/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RENDER_CHART_PIECES_H
#define BUILDBEAT_RENDER_CHART_PIECES_H

#include "render/chart/lanes.h"
#include "render/chart/works.h"

/*
 * What a picture of a width shows of the lanes: neighbours of one lane that are too
 * small to see are one piece.
 */
struct piece {
	int64_t from_us, until_us;
	uint32_t lane;
	uint32_t task;		/* the longest in it */
	uint32_t n_tasks;
	uint8_t share;		/* of the piece's time that is this task's, in 1/255 */
	uint8_t colour;		/* of that with most time in it */
	uint8_t efficiency;	/* CPU of its tasks in 1/200 of their wall time, 201: more;
				   255: not known */
	uint8_t ended;		/* worst enum task_state in it: done, running, killed, failed */
};

struct pieces {
	size_t n;
	struct piece *piece;	/* by lane, then by time */
};

/*
 * Tasks in [from, until], cut at its ends, on `columns` pixels. As long as a piece
 * has less than 1.5 pixels, the next less than a pixel away joins it; but a short
 * task that failed does not mark a long one. If there would be more than `most`
 * pieces, these widths grow, and tasks with different ends may share a piece. There is at least
 * one piece a lane that has a task there.
 *
 * Pieces of a lane do not overlap, and cover all time of its tasks: of two that
 * overlap the later begins where the earlier ends. 0 or -ENOMEM. Release with
 * pieces_release().
 */
int pieces_make(struct pieces *p, const struct lanes *l, const struct summary *s,
		const struct works *works, int64_t from_us, int64_t until_us, unsigned columns,
		size_t most);
void pieces_release(struct pieces *p);

#endif
