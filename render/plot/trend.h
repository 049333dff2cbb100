/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RENDER_PLOT_TREND_H
#define BUILDBEAT_RENDER_PLOT_TREND_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Metrics over builds, drawn by gnuplot: a point per build, the levels, and the builds where
 * they change. Builds are equally far apart, whatever their clocks say.
 */
#define TREND_PANES 8

enum trend_unit { TREND_TIME /* microseconds */, TREND_BYTES, TREND_COUNT, TREND_RATIO, TREND_UNITS };

struct trend_change {
	uint32_t at, first, last;	/* builds: the first of it, and between which that is */
	bool creep;		/* from first to last, little by little */
	double before, after;	/* the levels on either side */
	const char *label;	/* "+20 %" */
};

struct trend_pane {
	const char *title;
	enum trend_unit unit;
	const double *value;	/* of every build; NaN: none */
	size_t n_changes;	/* by build */
	const struct trend_change *change;
};

struct trend {
	const char *title, *subtitle;
	size_t n;
	const int64_t *start_s;	/* of every build, since 1970; -1: not known */
	size_t n_panes;
	struct trend_pane pane[TREND_PANES];
};

struct trend_output {
	const char *path;	/* its ending says what: .svg, .png, .pdf; NULL: for the terminal,
				   into out */
	unsigned columns, lines;	/* of the terminal; 0: 80, 24 */
	bool colour;
};

/* 0, or a negative errno with err: -ENOENT (no gnuplot), -EIO (gnuplot failed), -EINVAL (no
 * such ending), -ENODATA (nothing to draw). A file appears whole or not at all. */
int trend_draw(const struct trend *t, const struct trend_output *o, struct buf *out,
	       struct error *err);

#endif
