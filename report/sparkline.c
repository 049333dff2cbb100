/* SPDX-License-Identifier: MIT */
#include "report/sparkline.h"

#include "stats/stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define STEPS 8

static const char *const blocks[STEPS] = {
	"\u2581", "\u2582", "\u2583", "\u2584", "\u2585", "\u2586", "\u2587", "\u2588",
};
static const char *const letters[STEPS] = { "_", ".", ":", "-", "=", "+", "*", "#" };

#define LEAST_RANGE 0.2		/* minimum height, as a share of the usual value */

static double median_of(const double *values, size_t n, double *work)
{
	size_t known = 0;

	for (size_t i = 0; i < n; i++) {
		if (isfinite(values[i]))
			work[known++] = values[i];
	}
	return stats_median(work, known);
}

struct scale {
	double low, high;
};

static struct scale scale_of(const double *column, size_t n, double usual)
{
	struct scale s = { INFINITY, -INFINITY };
	double missing;

	for (size_t i = 0; i < n; i++) {
		s.low = column[i] < s.low ? column[i] : s.low;
		s.high = column[i] > s.high ? column[i] : s.high;
	}
	missing = fabs(usual) * LEAST_RANGE - (s.high - s.low);
	if (missing > 0) {
		s.low -= missing / 2;
		s.high += missing / 2;
	}
	return s;
}

static void add_column(struct buf *b, double value, const struct scale *s, bool ascii)
{
	double share = s->high > s->low ? (value - s->low) / (s->high - s->low) : 0.5;
	int step = (int)(share * STEPS);

	if (isnan(value))
		buf_addc(b, ' ');
	else
		buf_adds(b, (ascii ? letters : blocks)[step < STEPS ? step : STEPS - 1]);
}

int sparkline_add(struct buf *b, const double *values, size_t n, size_t columns, bool ascii)
{
	size_t width = n < columns ? n : columns;
	double *column = malloc((width + n + 1) * sizeof *column);
	struct scale scale;

	if (!column)
		return -ENOMEM;
	for (size_t i = 0; i < width; i++) {
		size_t begin = i * n / width, end = (i + 1) * n / width;

		column[i] = median_of(values + begin, end - begin, column + width);
	}
	scale = scale_of(column, width, median_of(values, n, column + width));
	for (size_t i = 0; i < width; i++)
		add_column(b, column[i], &scale, ascii);
	free(column);
	return buf_error(b);
}
