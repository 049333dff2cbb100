/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_COMPARE_VERDICT_SERIES_H
#define BUILDBEAT_COMPARE_VERDICT_SERIES_H

#include "compare/known.h"
#include "compare/builds.h"
#include "compare/rules.h"
#include "stats/changepoints.h"
#include "stats/hostfactor.h"
#include "stats/tails.h"

/* What verdict.c has of a metric: its series, one a task and then the build's and the host's. */

#define MEDIAN_ERROR 1.57	/* the variance of a median is so much of a mean's */

/* A change point that still stands. */
struct verdict_step {
	uint32_t row;
	uint32_t at, first, last;
	uint32_t n_before, n_now;	/* builds the levels were measured on */
	double before, now;	/* levels: right before it, and the newest */
	double p;
};

/* Of a series: the level its newest builds are held against. Values are logarithms, or, if
 * one is not above 0, in units of scale; a residual is a value less the level. */
struct verdict_level {
	bool judged;		/* there is something to compare */
	bool tested;		/* the newest builds have a level to be held against */
	bool ratios;
	uint32_t begin, end;	/* the builds it was measured on, those without a value too */
	uint32_t newest;	/* the first of the newest builds */
	uint32_t n, n_newest;	/* with a value */
	double scale;
	double middle;
	double variance, df;	/* as measured; then shrunk */
	struct gate gate;
};

struct verdict_series {
	const struct builds *builds;
	const struct rules *rules;
	const struct known_list *known;
	enum metric metric;
	uint32_t first_build;
	size_t n_rows, n_builds;
	float *values;		/* [row * n_builds + build]: without what the host makes of them;
				   then residuals */
	struct verdict_level *level;	/* of a row */
	struct hostfactor host;
	struct verdict_step *standing;	/* by row, then build */
	size_t n_standing;
	struct tails up, down;
};

/* Load it and find all levels and what stands. 0 or a negative errno with err. Always release. */
int verdict_series_find(struct verdict_series *s, struct error *err);
void verdict_series_release(struct verdict_series *s);

/* Rows after those of the tasks; the name that patterns are for, NULL for the host. */
uint32_t verdict_row_task(const struct verdict_series *s, size_t row);
const char *verdict_row_name(const struct verdict_series *s, size_t row);

/* How far residuals are off, in standard deviations of another build's (sign: 1 or -1); of
 * the builds of the level itself. Room for all builds; how many. */
double verdict_level_off(const struct verdict_level *l, double residual);
size_t verdict_level_own(const struct verdict_series *s, size_t row, double sign, double *off);

/* The residuals from build begin up to but not end, those there are. */
size_t verdict_level_residuals(const struct verdict_series *s, size_t row, size_t begin, size_t end,
			       double *residual);

/* A level or residual back in the metric's unit. */
double verdict_level_value(const struct verdict_level *l, double residual);

#endif
