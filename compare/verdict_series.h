/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_COMPARE_VERDICT_SERIES_H
#define BUILDBEAT_COMPARE_VERDICT_SERIES_H

#include "compare/known.h"
#include "compare/builds.h"
#include "compare/rules.h"
#include "stats/changepoints.h"
#include "stats/hostfactor.h"
#include "stats/tails.h"

/* The series of one metric for verdict.c: one for each task, then the build and the host. */

#define MEDIAN_ERROR 1.57	/* variance of a median, relative to that of a mean */

/* A change point whose change persists in the newest builds. */
struct verdict_step {
	uint32_t row;
	uint32_t at, first, last;
	uint32_t n_before, n_now;	/* number of builds of the levels */
	double before, now;	/* levels: before it, and the newest */
	double p;
};

/* The level of a series that its newest builds are compared with. Values are logarithms, or in
 * units of scale if one is not above 0. A residual is a value minus the level. */
struct verdict_level {
	bool judged;		/* there is something to test */
	bool tested;		/* the newest builds have a level to be compared with */
	bool ratios;
	uint32_t begin, end;	/* its builds, including those without a value */
	uint32_t newest;	/* the first of the newest builds */
	uint32_t n, n_newest;	/* number of builds with a value */
	double scale;
	double middle;
	double variance, df;	/* measured, later shrunk */
	struct gate gate;
};

struct verdict_series {
	const struct builds *builds;
	const struct rules *rules;
	const struct known_list *known;
	enum metric metric;
	uint32_t first_build;
	size_t n_rows, n_builds;
	float *values;		/* [row * n_builds + build]: without the factor of the
				   host; later residuals */
	struct verdict_level *level;	/* of each row */
	struct hostfactor host;
	struct verdict_step *step;	/* sorted by row, then build */
	size_t n_steps;
	struct tails up, down;
};

/* Loads the metric and finds all levels and steps. Returns 0 or a negative errno with err. Always
 * release. */
int verdict_series_find(struct verdict_series *s, struct error *err);
void verdict_series_release(struct verdict_series *s);

/* The task of a row, or TASK_TOTAL or TASK_HOST; its name for patterns, NULL for the host. */
uint32_t verdict_row_task(const struct verdict_series *s, size_t row);
const char *verdict_row_name(const struct verdict_series *s, size_t row);

/* The deviation of a residual of a new build, in standard deviations; those of the builds of the
 * level itself, multiplied by sign. off has room for all builds; returns their number. */
double verdict_level_off(const struct verdict_level *l, double residual);
size_t verdict_level_own(const struct verdict_series *s, size_t row, double sign, double *off);

/* The known residuals of the builds [begin, end). Returns their number. */
size_t verdict_level_residuals(const struct verdict_series *s, size_t row, size_t begin, size_t end,
			       double *residual);

/* The value for a residual, in the metric's unit. */
double verdict_level_value(const struct verdict_level *l, double residual);

#endif
