/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_STATS_CHANGEPOINTS_H
#define BUILDBEAT_STATS_CHANGEPOINTS_H

#include "stats/partition.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Change points of a series: the builds at which the level of a value changed.
 *
 * If all values are above 0, their logarithms are used, so that a change is a ratio.
 * Otherwise values are divided by their usual size. The noise is the spread of the
 * differences between consecutive builds. Values that differ from the median of the fifteen
 * builds around them by more than 1.8 times the noise are clipped. Optimal partitioning then
 * cuts the builds into levels, with a penalty of 3 ln(n) times the noise. The penalty is
 * larger where consecutive builds correlate or where the variance exceeds the noise. Then
 * the weakest cuts are removed until each one has the minimum effect and passes two tests:
 * Student's at 3e-4, and Mann and Whitney's at 1e-2. Both p values are multiplied by the
 * number of possible positions. Last, each cut is placed by the values before they were clipped.
 *
 * A level of up to seven builds that ended again is a disturbance and is ignored. The first
 * level has at least CHANGEPOINTS_HELD builds, and the last one CHANGEPOINTS_SHORTEST.
 */
#define CHANGEPOINTS_HELD 7
#define CHANGEPOINTS_SHORTEST 3

struct change {
	uint32_t at;		/* index of the first changed value */
	uint32_t first, last;	/* interval of `at`, confidence 95 % */
	double before, after;	/* the levels on either side, in the values' unit */
	double effect;		/* after / before - 1; if a value is not above 0, the
				   difference divided by the usual size */
	double p;		/* multiplied by the number of possible positions */
};

/* Memory that is reused for many series. Returns NULL when out of memory. */
struct changepoints *changepoints_new(void);
void changepoints_free(struct changepoints *c);

/*
 * Finds the change points of n values in the order of builds; NaN is a missing value. *list
 * belongs to c and is valid until the next call. least_effect is a share such as 0.01.
 * Returns 0, -ENOMEM, or -EFBIG for more than CHANGEPOINTS_MAX builds.
 */
#define CHANGEPOINTS_MAX 20000

int changepoints_find(struct changepoints *c, const struct change **list, size_t *n_list,
		      const double *values, size_t n, double least_effect);

/* The same; changes also have a minimum amount, in the values' unit. */
int changepoints_find_amount(struct changepoints *c, const struct change **list, size_t *n_list,
			     const double *values, size_t n, double least_effect,
			     double least_amount);

/*
 * The data in which changepoints_find() found change points, for creep.c. It is valid until
 * the next call, and only if that call found any. Values are clipped, centred on 0 and in
 * units of the noise.
 */
struct changepoints_view {
	size_t n;
	const uint32_t *build;	/* index of each value */
	const double *calm;
	size_t n_levels;
	const uint32_t *start;	/* index into calm of each level */
	const struct partition *partition;	/* of calm */
	double inflation;	/* variance of the residuals by chance, at least 1 */
};

void changepoints_view(struct changepoints_view *v, const struct changepoints *c);

/* A value of calm in the series' unit, and the effect of a change between two of them. */
double changepoints_amount(const struct changepoints *c, double calm);
double changepoints_effect(const struct changepoints *c, double before, double after);

#endif
