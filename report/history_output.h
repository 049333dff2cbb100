/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_HISTORY_OUTPUT_H
#define BUILDBEAT_REPORT_HISTORY_OUTPUT_H

#include "base/buf.h"
#include "base/text.h"
#include "compare/history.h"

/* What history found, written. */
struct history_view {
	const struct builds *builds;
	const struct history *history;
	unsigned metrics;	/* METRIC_BIT()s looked at */
	uint32_t task;		/* HISTORY_ALL, or that one alone */
	double *series[METRICS];	/* of every build, of the task or of the build; NULL: none */
	size_t top;		/* changes told of an event; 0: all */
	bool ascii;		/* where the terminal has no other characters */
};

/* For people; 0 or -ENOMEM, as both. */
int history_text(struct buf *out, const struct history_view *told, const struct style *style);

/* For programs: buildbeat-history(1) has the keys. */
int history_json(struct buf *out, const struct history_view *told);

#endif
