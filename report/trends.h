/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_TRENDS_H
#define BUILDBEAT_REPORT_TRENDS_H

#include "compare/verdict.h"

#include <stddef.h>
#include <stdint.h>

/*
 * The figures of all series over all builds, thinned to what a picture shows: a row a
 * task, the build itself the last one, metric after metric as rules has them; series =
 * metric * n_rows + row.
 *
 * A value is a byte: 0 not known, else 1 + its place among the steps from the lowest to the
 * highest. Those of which something is told are fine: a value a build, TRENDS_FINE
 * steps. All others, where there are many, are coarse: TRENDS_COARSE steps, of the
 * newest TRENDS_RECENT builds a value each, of those before the median of so many
 * (`bin`) builds, of the oldest perhaps of fewer.
 */
#define TRENDS_FINE 254
#define TRENDS_COARSE 24
#define TRENDS_RECENT 30

struct trends {
	size_t n_rows, n_metrics, n_series, n_builds;
	enum metric metric[METRICS];
	/* Of each series, rounded to twelve binary digits; NaN: not known. */
	float *newest;
	float *usual;		/* before what is told of it now, else the median of the builds
				   before the newest that check looks back on */
	float *low, *high;
	size_t bin, n_points;	/* of a coarse one */
	uint8_t *coarse;	/* of those that are not fine, n_points each */
	size_t n_fine;
	uint32_t *fine;		/* their series, ascending */
	uint8_t *values;	/* n_builds each */
};

/* Build i of a series is in this point of a coarse one, and its first build. */
size_t trends_first_build(const struct trends *t, size_t point);

/* 0 or a negative errno with err. Always release. */
int trends_make(struct trends *t, const struct builds *builds, const struct rules *rules,
		const struct history *history, const struct verdict *verdict, struct error *err);
void trends_release(struct trends *t);

#endif
