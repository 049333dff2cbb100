/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_HISTORY_OUTPUT_H
#define BUILDBEAT_REPORT_HISTORY_OUTPUT_H

#include "base/buf.h"
#include "base/error.h"
#include "compare/history.h"
#include "render/plot/trend.h"
#include "write/doc.h"

/* The outputs of history. */
struct history_view {
	const struct builds *builds;
	const struct history *history;
	unsigned metrics;	/* METRIC_BIT()s examined */
	uint32_t task;		/* HISTORY_ALL, or the selected task */
	double *series[METRICS];	/* of the task or the build, every build; or NULL */
	size_t top;		/* printed changes of an event; 0: all */
	bool ascii;		/* the terminal has only ASCII */
};

/* Sets all of the view but task, which is set, and how it is printed. Returns 0 or a negative errno
 * with err; release the view also then. */
int history_view_fill(struct history_view *view, const struct history *history,
		      const struct builds *builds, unsigned metrics, struct error *err);
void history_view_release(struct history_view *view);

/* For people, on a terminal. The outputs return 0 or -ENOMEM. */
int history_doc(struct doc *d, const struct history_view *view);

/* For programs: buildbeat-history(1) has the keys. */
int history_json(struct buf *out, const struct history_view *view);

/* As a plot of each metric, see trend_draw(). Returns 0 or a negative errno with err. */
int history_trend(struct buf *out, const struct history_view *view, const struct trend_output *o,
		  struct error *err);

#endif
