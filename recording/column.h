/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RECORDING_COLUMN_H
#define BUILDBEAT_RECORDING_COLUMN_H

#include "recording/recording.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COLUMN_PARTS_MAX 1024

/*
 * A column of a proc_*.log in base units (microseconds, bytes or plain numbers),
 * or several of the same kind added up. The functions return -1 where there is
 * no such series or column, or no sample of it.
 */
struct column {
	const struct series *series;
	size_t n_parts;
	uint32_t part[COLUMN_PARTS_MAX];
	int64_t scale;		/* base units in one of the recording's */
};

/* A value and when it was, both -1 when not known. */
struct moment {
	int64_t value;
	int64_t time_us;
};

/* name "*.written": all columns that end in .written. False: not recorded. */
bool column_find(struct column *c, const struct recording *rec, const char *series,
		 const char *name);

/* The level at one sample, SERIES_ABSENT where there was none. */
int64_t column_level(const struct column *c, size_t sample);

/* How much a counter grew from one sample to a later one. */
int64_t column_between(const struct column *c, size_t from, size_t to);

/* How much a counter grew over the whole recording. */
int64_t column_growth(const struct column *c);

struct moment column_peak(const struct column *c);

/* The most a counter grew in a second, and when that second began; where samples
 * are further apart, their mean. */
struct moment column_busiest(const struct column *c);

/* Base units in one "10ms", "1KiB" ... */
int64_t column_unit_scale(const char *unit);

#endif
