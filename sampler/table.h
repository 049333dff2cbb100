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
 * A proc_*.log that is being written. Values are given as the kernel counts them and written in
 * the recording's units. The columns are the same few for every group (a disk, an interface, a
 * core), or those of one group without a name.
 */

#define GROUP_NAME_MAX 40

/* A column. That of a group is named GROUP.NAME, or only GROUP if name is empty. */
struct table_column {
	const char *name;
	const char *unit;
	bool counter;
	uint32_t mul, div;	/* raw value * mul / div is in the unit */
};

struct table {
	struct log log;
	struct series_writer writer;
	const char *name;
	int64_t interval_ms;
	const struct table_column *column;	/* of the caller */
	size_t n_columns;
	size_t n_groups, max_groups;	/* not counting "others" */
	char (*group)[GROUP_NAME_MAX];
	uint64_t *raw;		/* gauges as read, counters since the start */
	int64_t *level, *base, *written;
	struct series_column *series;
	bool want_header;	/* a header must be written */
};

/* max_groups 0: one group without a name. -ENOMEM or the error of opening the log. */
int table_open(struct table *t, int dir_fd, const char *name, int64_t interval_ms,
	       const struct table_column *column, size_t n_columns, size_t max_groups);
void table_close(struct table *t);

/* The index of a group. A new group causes a new header; if there are too many, it is "others".
 * Characters with a meaning in the log become "_". */
size_t table_group(struct table *t, struct slice name);

void table_set(struct table *t, size_t group, size_t column, uint64_t raw);	/* gauges */
void table_add(struct table *t, size_t group, size_t column, uint64_t raw);	/* counters */

/* Write a sample at t_us since the recording's start; scratch is overwritten. 0, or why it could
 * not be written. */
int table_write(struct table *t, struct buf *scratch, int64_t t_us, bool forced);

/* The increase of a kernel's counter; *last becomes now. A counter that went back (the device
 * was replaced) goes on from there. An overflow of 32 bits is recognised. */
uint64_t table_step(uint64_t *last, uint64_t now);

#endif
