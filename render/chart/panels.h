/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RENDER_CHART_PANELS_H
#define BUILDBEAT_RENDER_CHART_PANELS_H

#include "analyse/chain.h"
#include "analyse/chain.h"
#include "analyse/summary.h"
#include "render/chart/palette.h"
#include "render/chart/axis.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What happened to the machine, as the charts show it: a panel is one picture over
 * time with up to two axes, a band one quantity in it. Both SVG and gnuplot draw
 * them; nothing here knows of pixels.
 *
 * The bands of a panel share its points: value[i] holds from time_us[i - 1] until
 * time_us[i]; value[0] is not drawn. A rate is the mean over that stretch, a gauge
 * the level measured at its end.
 */

#define BAND_ABSENT INT64_MIN
#define PANEL_BANDS_MAX 8

enum mark {
	MARK_STACK,		/* areas on top of each other, in their order */
	MARK_AREA,		/* an area from 0 */
	MARK_LINE,
};

struct band {
	const char *id;		/* a word: "user" */
	const char *label;	/* as in the legend: "user"; safe to print */
	const char *meaning;	/* an explanation in one line */
	uint32_t task;		/* whose it is, NO_INDEX: of none */
	enum mark mark;
	bool right;		/* against the right axis */
	bool held;		/* of events, not of samples: seen to begin and to end at once */
	enum colour colour;
	int64_t *value;		/* in the memory of the panel's time_us */
	int64_t max, max_us;	/* the largest, and when it began or, of a gauge, was measured */
	int64_t mean;		/* over the time there are values */
	int64_t total;		/* of a rate in bytes: the bytes, including gaps; or -1 */
};

enum panel_id {
	PANEL_CPU,		/* this build, other processes (or user, system where the build's
				   part is unknown), iowait, steal; of all cores */
	PANEL_RUNNING,		/* tasks at once; limit: cores. Of large builds the
				   mean and the largest of short times. Tasks that wait (right,
				   where there are far more) */
	PANEL_MEMORY,		/* of the build: its largest tasks, the others; used on the
				   machine (right, where there is far more) */
	PANEL_DISK,		/* read, written; what the build read and wrote; right: busy */
	PANEL_NET,		/* received, sent */
	PANEL_PRESSURE,		/* cpu, io, memory: share of time something waited */
	PANEL_CGROUP,		/* memory; right: CPU, throttled */
	PANEL_MACHINE,		/* its memory: used, cached, buffers and slab; available (right,
				   where there is far more), swap */
	PANEL_VOLUMES,		/* space taken on each */
	PANELS,
};

struct panel {
	enum panel_id id;
	const char *word;	/* "cpu" ... */
	const char *title;	/* "CPU" ... */
	enum axis_unit unit, right_unit;
	int64_t ceiling, right_ceiling;	/* of the axes; right 0: there is none */
	int64_t limit;		/* a line across: cores, memory there is; -1: none. It may be
				   above the ceiling */
	const char *limit_label;
	const char *note;	/* a caveat for the reader, or NULL */
	size_t n;
	int64_t *time_us;	/* rising; shared by all bands */
	bool *gap;		/* nothing is known of the stretch before time_us[i] */
	size_t n_bands;
	struct band band[PANEL_BANDS_MAX];
	char *label[PANEL_BANDS_MAX];	/* those of bands that are not constant */
};

struct panels {
	size_t n;		/* those with something to show, in the order above. Each
				   band has a value somewhere, a quiet one (panel_bands.h)
				   one above 0 */
	struct panel panel[PANELS];
	struct chain chain;	/* of the build: which tasks wait follows from them */
};

/* 0 or -ENOMEM. Always release. */
int panels_make(struct panels *p, const struct summary *s);
void panels_release(struct panels *p);

/* NULL: not recorded. */
const struct panel *panels_find(const struct panels *p, enum panel_id id);

/* What a column of pixels shows of a band: all BAND_ABSENT where nothing is known. */
struct bin {
	int64_t min, mean, max;
};

/*
 * n bins of equal width over [from, until), to the microsecond. The mean is weighted
 * by time; a stretch longer than a bin fills all it covers.
 */
void panel_bins(const struct panel *p, size_t band, int64_t from_us, int64_t until_us,
		struct bin *bin, size_t n);

/* The same of all MARK_STACK bands added up, of those that are known. */
void panel_stack_bins(const struct panel *p, int64_t from_us, int64_t until_us,
		      struct bin *bin, size_t n);

#endif
