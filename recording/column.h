/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RECORDING_COLUMN_H
#define BUILDBEAT_RECORDING_COLUMN_H

#include "recording/recording.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COLUMN_PARTS_MAX 1024

/*
 * A column of a proc_*.log in base units (microseconds, bytes or plain numbers), or the sum of
 * several columns of one kind. The functions return -1 if there is no such series or column, or
 * no sample of it.
 */
struct column {
	const struct series *series;
	size_t n;		/* samples until the first one at the end of the build or later */
	size_t n_parts;
	uint32_t part[COLUMN_PARTS_MAX];
	int64_t scale;		/* base units in one of the recording's */
};

/* A value and its time, both -1 if unknown. */
struct moment {
	int64_t value;
	int64_t time_us;
};

/* name "*.written": all columns that end in .written. False if none was recorded. */
bool column_find(struct column *c, const struct recording *rec, const char *series,
		 const char *name);

/* The level at a sample, SERIES_ABSENT if there is none. */
int64_t column_level(const struct column *c, size_t sample);

/* How much a counter grew from one sample to a later one. */
int64_t column_between(const struct column *c, size_t from, size_t to);

/* How much a counter grew over the whole build. */
int64_t column_growth(const struct column *c);

struct moment column_peak(const struct column *c);

/* The largest growth of a counter in a second, and when that second began: as a rate of the time
 * between two samples that are about a second apart, or more if there are no nearer ones. */
struct moment column_busiest(const struct column *c);

/* Base units in one "10ms", "1KiB" ... */
int64_t column_unit_scale(const char *unit);

#endif
