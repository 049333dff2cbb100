/* SPDX-License-Identifier: MIT */
#include "render/plot/trend_axis.h"

#include "base/array.h"
#include "base/minmax.h"

#include <errno.h>
#include <math.h>
#include <time.h>

#define TICKS 5
#define LEAST_RANGE 0.2		/* of the largest value: noise is to look like noise */
#define FROM_ZERO 0.4		/* an axis that begins below such a part of it begins at 0 */
#define RATIO_UNIT 10000	/* of AXIS_SHARE */
#define COUNT_UNIT 100		/* of AXIS_COUNT */
#define LARGEST 1e18

static const int64_t time_steps[] = {	/* in us, from a second on */
	1000000, 2000000, 5000000, 10000000, 20000000, 30000000, 60000000, 120000000,
	300000000, 600000000, 1200000000, 1800000000, 3600000000, 7200000000, 18000000000,
};

int64_t trend_value(const struct trend_pane *p, double value)
{
	static const double scale[TREND_UNITS] = {
		[TREND_TIME] = 1, [TREND_BYTES] = 1, [TREND_COUNT] = COUNT_UNIT, [TREND_RATIO] = RATIO_UNIT,
	};

	value *= scale[p->unit];
	return value >= LARGEST ? (int64_t)LARGEST : value <= -LARGEST ? -(int64_t)LARGEST :
	       llround(value);
}

/* 1, 2, 5, 10 ... */
static int64_t decimal_step(double least)
{
	double unit = pow(10, floor(log10(least)));

	if (least <= 1)
		return 1;
	return (int64_t)(least <= unit ? unit : least <= 2 * unit ? 2 * unit :
			 least <= 5 * unit ? 5 * unit : 10 * unit);
}

static int64_t step_of(enum axis_unit unit, double least)
{
	int64_t step = 1;

	if (unit == AXIS_BYTES) {
		while (step < least)
			step *= 2;
		return step;
	}
	for (size_t i = 0; unit == AXIS_TIME && i < ARRAY_SIZE(time_steps); i++) {
		if (least > time_steps[0] / 2.0 && time_steps[i] >= least)
			return time_steps[i];
	}
	return decimal_step(least);
}

static void widen(double *low, double *high, double value)
{
	if (!isfinite(value))
		return;
	*low = MIN(value, *low);
	*high = MAX(value, *high);
}

int trend_axis_make(struct trend_axis *a, const struct trend *t, const struct trend_pane *p)
{
	static const enum axis_unit units[TREND_UNITS] = {
		[TREND_TIME] = AXIS_TIME, [TREND_BYTES] = AXIS_BYTES, [TREND_COUNT] = AXIS_COUNT,
		[TREND_RATIO] = AXIS_SHARE,
	};
	double low = INFINITY, high = -INFINITY, size, missing;

	for (size_t i = 0; i < t->n; i++)
		widen(&low, &high, p->value[i]);
	if (!(low <= high))
		return -ENODATA;
	for (size_t i = 0; i < p->n_changes; i++) {
		widen(&low, &high, p->change[i].before);
		widen(&low, &high, p->change[i].after);
	}
	size = fmax(fabs(low), fabs(high));
	missing = size * LEAST_RANGE - (high - low);
	if (missing > 0) {
		low -= missing / 2;
		high += missing / 2;
	}
	if (low > 0 && low < FROM_ZERO * high)
		low = 0;
	a->unit = units[p->unit];
	a->low = trend_value(p, low);
	a->high = trend_value(p, high);
	a->high += a->high == a->low;
	a->step = step_of(a->unit, (double)(a->high - a->low) / TICKS);
	a->low = (int64_t)floor((double)a->low / (double)a->step) * a->step;
	a->high = (int64_t)ceil((double)a->high / (double)a->step) * a->step;
	return 0;
}

size_t trend_day_step(size_t builds, size_t most)
{
	static const size_t steps[] = { 1, 2, 5, 7, 14, 28, 56, 91, 182, 364 };
	size_t step = 364;

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		if (builds <= steps[i] * most)
			return steps[i];
	}
	while (builds > step * most)
		step += 364;
	return step;
}

void trend_add_day(struct buf *b, const struct trend *t, size_t build)
{
	time_t time = (time_t)t->start_s[build];
	struct tm tm;

	if (time < 0 || !gmtime_r(&time, &tm))
		buf_addf(b, "build %zu", build + 1);
	else
		buf_addf(b, "%04d-%02d-%02d", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday);
}
