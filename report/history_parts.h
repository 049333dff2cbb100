/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_HISTORY_PARTS_H
#define BUILDBEAT_REPORT_HISTORY_PARTS_H

#include "report/history_output.h"

/* What history_text.c and history_series.c share. */
struct history_page {
	struct buf *out;
	const struct history_view *told;
	const struct style *style;
};

#define HISTORY_INDENT 12		/* as wide as a day and two blanks */

/* "2026-06-09", of a build without a clock "build 203"; counted from 1. */
void history_add_build(struct buf *b, const struct builds *builds, uint32_t build);

/* What the series told are of: a task, "the build"; and of which builds. */
void history_add_subject(struct buf *b, const struct history_view *told);
void history_add_span(struct buf *b, const struct builds *builds);

/* What is known of a change: "accepted: REASON". Nothing where nothing is. */
void history_add_known(const struct history_page *p, const struct known *known);

/* A line a source tree: "src 1a2b3c4d5e6f..9f8e7d6c5b4a", ready for git log. */
void history_add_revisions(const struct history_page *p, uint32_t first, uint32_t last, unsigned indent);

/* The changes of the series told of a metric, in the order of builds. 0 or -ENOMEM. */
struct history_levels {
	size_t n;
	const struct history_change **change;
};

int history_levels_find(struct history_levels *l, const struct history_view *told, enum metric m);
void history_levels_release(struct history_levels *l);

/* A metric's series by its levels; the changes are those of told->task or the build. 0 or
 * -ENOMEM. */
int history_add_series(const struct history_page *p, enum metric m);

#endif
