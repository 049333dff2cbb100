/* SPDX-License-Identifier: MIT */
#include "report/sparkline.h"

#include "base/array.h"
#include "base/minmax.h"
#include "stats/stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define STEPS 8

static const char *const blocks[STEPS] = {
	"\u2581", "\u2582", "\u2583", "\u2584", "\u2585", "\u2586", "\u2587", "\u2588",
};
static const char *const letters[STEPS] = { "_", ".", ":", "-", "=", "+", "*", "#" };

#define LEAST_RANGE 0.4		/* minimum height, as a share of the usual value; as in page.js */

static double median_of(const double *values, size_t n, double *work)
{
	size_t known = 0;

	for (size_t i = 0; i < n; i++) {
		if (isfinite(values[i]))
			work[known++] = values[i];
	}
	return stats_median(work, known);
}

static void add_column(struct buf *b, double value, double low, double high, bool ascii)
{
	double share = high > low ? (value - low) / (high - low) : 0.5;
	int step = (int)(share * STEPS);

	if (isnan(value))
		buf_addc(b, ' ');
	else
		buf_adds(b, (ascii ? letters : blocks)[step < STEPS ? step : STEPS - 1]);
}

int sparkline_add(struct buf *b, const double *values, size_t n, size_t columns, bool ascii)
{
	size_t width = MIN(n, columns);
	double *column = array_new(width + n, sizeof *column);
	double low = INFINITY, high = -INFINITY, missing;

	if (!column)
		return -ENOMEM;
	for (size_t i = 0; i < width; i++) {
		size_t begin = i * n / width, end = (i + 1) * n / width;

		column[i] = median_of(values + begin, end - begin, column + width);
		low = MIN(column[i], low);
		high = MAX(column[i], high);
	}
	missing = fabs(median_of(values, n, column + width)) * LEAST_RANGE - (high - low);
	if (missing > 0) {
		low -= missing / 2;
		high += missing / 2;
	}
	for (size_t i = 0; i < width; i++)
		add_column(b, column[i], low, high, ascii);
	free(column);
	return buf_error(b);
}
