/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_SAMPLER_TABLE_H
#define BUILDBEAT_SAMPLER_TABLE_H

#include "base/cursor.h"
#include "recording/series.h"
#include "sampler/log.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * One proc_*.log being written: figures as the kernel counts them in, columns in
 * the recording's units out. The columns are the same few figures for every
 * group (a disk, an interface, a core), or those of one nameless group.
 */

#define GROUP_NAME_MAX 40

/* A column; one of a group is named GROUP.NAME (only GROUP if name is empty). */
struct table_column {
	const char *name;
	const char *unit;
	bool counter;
	uint32_t mul, div;	/* raw figure * mul / div is in the unit */
};

struct table {
	struct log log;
	struct series_writer writer;
	const char *name;
	int64_t interval_ms;
	const struct table_column *column;	/* lent */
	size_t n_columns;
	size_t n_groups, max_groups;	/* without "others" */
	char (*group)[GROUP_NAME_MAX];
	uint64_t *raw;		/* gauges as read, counters since the start */
	int64_t *level, *base, *written;
	struct series_column *series;
	bool want_header;	/* the first line is still to be written */
};

/* max_groups 0: one nameless group. -ENOMEM or what opening the log gave. */
int table_open(struct table *t, int dir_fd, const char *name, int64_t interval_ms,
	       const struct table_column *column, size_t n_columns, size_t max_groups);
void table_close(struct table *t);

/* The index of a group; a new one begins a new first line; "others" when there
 * are too many. The characters that have a meaning in the log become "_". */
size_t table_group(struct table *t, struct slice name);

void table_set(struct table *t, size_t group, size_t column, uint64_t raw);	/* gauges */
void table_add(struct table *t, size_t group, size_t column, uint64_t raw);	/* counters */

/* One sample at t_us since the recording's start; scratch is overwritten.
 * 0 or why it did not reach the file. */
int table_write(struct table *t, struct buf *scratch, int64_t t_us, bool forced);

/* How far a counter of the kernel went, *last becomes now. One that went back
 * (the thing was replaced) goes on from there; one of 32 bits that ran over
 * is followed. */
uint64_t table_step(uint64_t *last, uint64_t now);

#endif
