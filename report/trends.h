/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_TRENDS_H
#define BUILDBEAT_REPORT_TRENDS_H

#include "compare/verdict.h"

#include <stddef.h>
#include <stdint.h>

/*
 * The values of all series over all builds, reduced to what a picture shows. A row is a task, the last
 * row is the build, and metrics follow each other in the order of rules:
 * series = metric * n_rows + row.
 *
 * A value is a byte: 0 for unknown, otherwise 1 + its step between the lowest and the highest. Series
 * with changes or findings are fine: a value for each build, TRENDS_FINE steps. If there are
 * many, all others are coarse: TRENDS_COARSE steps, a value for each of the newest
 * TRENDS_RECENT builds, and before those the median of `bin` builds (or fewer at the
 * beginning).
 */
#define TRENDS_FINE 254
#define TRENDS_COARSE 24
#define TRENDS_RECENT 30

struct trends {
	size_t n_rows, n_metrics, n_series, n_builds;
	enum metric metric[METRICS];
	/* Of each series, rounded to twelve binary digits; NaN: unknown. */
	float *newest;
	float *usual;		/* value before a finding, otherwise the median of the builds
				   that check compares the newest one with */
	float *low, *high;
	size_t bin, n_points;	/* of a coarse series */
	uint8_t *coarse;	/* n_points of each series that is not fine */
	size_t n_fine;
	uint32_t *fine;		/* their series, ascending */
	uint8_t *values;	/* n_builds of each fine series */
};

/* The first build of a point of a coarse series. */
size_t trends_first_build(const struct trends *t, size_t point);

/* Returns 0 or a negative errno with err. Always release. */
int trends_make(struct trends *t, const struct builds *builds, const struct rules *rules,
		const struct history *history, const struct verdict *verdict, struct error *err);
void trends_release(struct trends *t);

#endif
