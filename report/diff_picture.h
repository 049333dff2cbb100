/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_DIFF_PICTURE_H
#define BUILDBEAT_REPORT_DIFF_PICTURE_H

#include "render/chart/difference.h"
#include "report/diff_view.h"
#include "write/markup.h"

/*
 * The pictures of a comparison, in HTML, of the first selected metric:
 *
 *	ol.ranked		the tasks that differ most: li.dN (N of enum difference) with
 *				.name, .sides, .track > i and .delta; li.axis has the scale
 *	ul.keys			the legend of the colours, li.dN
 *	.lanes			both builds on one time scale: .ticks, then for each side a
 *				figure with its lanes: svg > rect.dN, path.dN, and span.label
 */
struct diff_picture {
	const struct diff_view *view;
	enum metric metric;	/* METRICS: none is selected */
	double much;		/* as of difference.h */
	double most[DIFF_SIDES];	/* the largest change down, and up, as positive numbers */
	size_t n, n_ranked;	/* tasks that differ, and how many of them are in ranked */
	uint32_t *ranked;
};

/* Returns 0 or -ENOMEM. Always release. */
int diff_picture_make(struct diff_picture *p, const struct diff_view *v);
void diff_picture_release(struct diff_picture *p);

enum difference diff_picture_difference(const struct diff_picture *p, uint32_t task);

/* The difference of the build in a sentence. */
void diff_picture_add_answer(struct markup *h, const struct diff_picture *p);

void diff_picture_add_ranked(struct markup *h, const struct diff_picture *p);
void diff_picture_add_keys(struct markup *h, const struct diff_picture *p);

/* Nothing if it is not known when tasks started. Returns 0 or -ENOMEM. */
int diff_lanes_add(struct markup *h, const struct diff_picture *p);

#endif
