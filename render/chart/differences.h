/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RENDER_CHART_DIFFERENCES_H
#define BUILDBEAT_RENDER_CHART_DIFFERENCES_H

#include "analyse/summary.h"
#include "base/buf.h"
#include "render/chart/difference.h"
#include "render/chart/works.h"

/* The build to compare with. */
struct chart_other {
	const struct summary *sum;
	const uint32_t *same;	/* of every task of ours: the same one there, or NO_INDEX */
	size_t n_same, n_only_here, n_only_there;
	const char *warning;	/* why they may be builds of different things, or NULL */
};

/*
 * How the wall times of tasks differ in two builds, for a chart. A difference counts if it is
 * at least DIFFERENCES_SHARE of the longer time and at least least_us.
 */
#define DIFFERENCES_SHARE 0.05
#define DIFFERENCES_TOP 20

struct differences {
	int64_t least_us;
	double much_us;		/* as of difference.h */
	uint8_t *here, *there;	/* enum difference of the tasks summary.order[i] */
	struct works shades, other_shades;	/* the same as works: a colour each */
	size_t n_top;		/* the tasks that differ most, the largest difference first */
	struct differences_task {
		uint32_t here, there;	/* places in order, NO_INDEX where it did not run */
		int64_t change_us;	/* all its time if it ran in one build only */
	} top[DIFFERENCES_TOP];
};

/* The words of a legend: "slower by 2 s or more". */
void differences_add_words(struct buf *b, const struct differences *d, enum difference of);

/* 0 or -ENOMEM. Always release. */
int differences_make(struct differences *d, const struct summary *s, const struct chart_other *other);
void differences_release(struct differences *d);

#endif
