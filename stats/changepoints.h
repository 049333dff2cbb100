/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_STATS_CHANGEPOINTS_H
#define BUILDBEAT_STATS_CHANGEPOINTS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Since when a figure is another: the change points of one value a build.
 *
 * Values above 0 are taken by their logarithm, so that a change is a ratio; if one is
 * not, all are taken as they are, in units of the usual size. The noise is the spread
 * of differences from build to build. What sticks out of the five builds around it is
 * cut off. Then the builds are cut into levels by optimal partitioning, with a
 * penalty of 3 ln(n) times the noise, more where builds resemble the build before or
 * vary more than noise does. Of the cuts, the weakest are taken back until each
 * passes Student's test at 3e-4 and Mann and Whitney's at 1e-2, both times the places a cut
 * could have been at, and is as large as asked for.
 *
 * A level of fewer than CHANGEPOINTS_HELD builds that was left again is a passing
 * disturbance, no level; that of the last builds may have as few as
 * CHANGEPOINTS_SHORTEST.
 */
#define CHANGEPOINTS_HELD 7
#define CHANGEPOINTS_SHORTEST 3

struct change {
	uint32_t at;		/* index of the first changed value */
	uint32_t first, last;	/* where that is with a confidence of 95 % */
	double before, after;	/* the levels on either side, in the values' unit */
	double effect;		/* after / before - 1; of values not all above 0 the
				   difference by the usual size */
	double p;		/* times the places it could have been at */
};

/* Memory for series after series. NULL when out of memory; NULL is fine to free. */
struct changepoints *changepoints_new(void);
void changepoints_free(struct changepoints *c);

/*
 * Those of n values, in order; a build without is NaN. *list belongs to c and is gone
 * with the next call. least_effect is a share, as 0.01. 0, -ENOMEM, -EFBIG for more
 * builds than CHANGEPOINTS_MAX.
 */
#define CHANGEPOINTS_MAX 20000

int changepoints_find(struct changepoints *c, const struct change **list, size_t *n_list,
		      const double *values, size_t n, double least_effect);

/* The same of changes that are of so much at least, too, in the values' unit. */
int changepoints_find_amount(struct changepoints *c, const struct change **list, size_t *n_list,
			     const double *values, size_t n, double least_effect,
			     double least_amount);

#endif
