/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_HISTORY_PARTS_H
#define BUILDBEAT_REPORT_HISTORY_PARTS_H

#include "report/history_output.h"

/* Shared by history_*.c. */

#define HISTORY_INDENT 12		/* width of a day and two blanks */

/* "2026-06-09", or "build 203" (counted from 1) if the time is unknown. */
void history_add_build(struct buf *b, const struct builds *builds, uint32_t build);

/* The subject of the series, a task or "the build"; and the range of builds. */
void history_add_subject(struct buf *b, const struct history_view *view);
void history_add_span(struct buf *b, const struct builds *builds);

/* "accepted: REASON" */
void history_add_known(struct buf *b, const struct known *known);

/* A line "src 1a2b3c4d5e6f..9f8e7d6c5b4a" for each source tree. */
void history_add_revisions(struct doc *d, const struct builds *builds, uint32_t first, uint32_t last, size_t indent);

/* The changes of the selected series of a metric, in the order of builds. Returns 0 or -ENOMEM. */
struct history_levels {
	size_t n;
	const struct history_change **change;
};

int history_levels_find(struct history_levels *l, const struct history_view *view, enum metric m);
void history_levels_release(struct history_levels *l);

/* The levels of a metric, of view->task or the build. Returns 0 or -ENOMEM. */
int history_add_series(struct doc *d, const struct history_view *view, enum metric m);

#endif
