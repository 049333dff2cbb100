/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RENDER_CHART_WORKS_H
#define BUILDBEAT_RENDER_CHART_WORKS_H

#include "analyse/summary.h"
#include "render/chart/palette.h"

/*
 * What the tasks of a build do, and the colour of it: their kinds, but of kind "other" each
 * program. Those with most time have a colour of the palette of their own, if possible the one
 * of palette_of_kind(); everything else is grey.
 */
#define WORKS_MAX 100
#define WORKS_OTHER_SHARE 0.01	/* of all time: less is grey */

struct work {
	const char *name;	/* a kind or a program */
	enum colour colour;
	size_t n_tasks;
	int64_t wall_us;	/* of struct cost, added up */
};

struct works {
	size_t n;
	struct work work[WORKS_MAX];	/* by time, the largest first; the last may be "other",
					   which stands for all further ones */
	size_t n_coloured;		/* in front; the others are COLOUR_GREY */
	uint8_t *of;			/* of the task summary.order[i], i < n_ran */
	struct arena *names;		/* private: of the programs */
};

/* 0 or -ENOMEM. Always release. */
int works_make(struct works *w, const struct summary *s);
void works_release(struct works *w);

/* The colour of the task summary.order[i]. */
static inline enum colour works_colour(const struct works *w, size_t i)
{
	return w->work[w->of[i]].colour;
}

#endif
