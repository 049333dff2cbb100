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
 * Series with changes or findings are fine: a byte for each build, 0 for unknown, otherwise
 * 1 + its step between the lowest and the highest value. If there are many series, all
 * others are coarse: a byte for each of the newest builds, and before those for the
 * median of `bin` builds (or fewer at the beginning). It is a ratio to the series' base:
 * 0 for unknown, 1 for zero, otherwise TRENDS_BASE + a number of steps, of which an octave
 * has `octave`. Steps after TRENDS_EVEN of them are half an octave.
 */
#define TRENDS_FINE 254
#define TRENDS_BASE 128
#define TRENDS_EVEN 96
#define TRENDS_MOST 126
#define TRENDS_RECENT 30

struct trends {
	size_t n_rows, n_metrics, n_series, n_builds;
	enum metric metric[METRICS];
	/* Of each series; NaN: unknown. */
	float *newest;
	float *usual;		/* value before a finding, otherwise the median of the builds
				   that check compares the newest one with */
	float *base;		/* about the usual value; rounded to `bits` */
	unsigned bits;		/* binary digits that are enough for values of coarse series */
	unsigned octave;
	size_t recent, bin, n_points;	/* of a coarse series */
	size_t n_coarse;	/* series that are not fine */
	uint8_t *coarse;	/* the first point of each, then the second ... */
	size_t n_fine;
	uint32_t *fine;		/* their series, ascending */
	float *low, *high;	/* of each fine series, rounded to TRENDS_BITS */
	uint8_t *values;	/* n_builds of each fine series */
};

/* The highest bits of v's IEEE format, as many as leave `bits` digits of a fraction. */
#define TRENDS_BITS 12

uint32_t trends_code(float v, unsigned bits);

/* The first build of a point of a coarse series. */
size_t trends_first_build(const struct trends *t, size_t point);

/* Returns 0 or a negative errno with err. Always release. */
int trends_make(struct trends *t, const struct builds *builds, const struct rules *rules,
		const struct history *history, const struct verdict *verdict, struct error *err);
void trends_release(struct trends *t);

#endif
