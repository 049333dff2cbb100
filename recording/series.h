/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RECORDING_SERIES_H
#define BUILDBEAT_RECORDING_SERIES_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The encoder of the proc_*.log files: whole-number levels in, one short line a
 * sample out. buildbeat-recording(5) has the format for readers in other
 * languages; reader_samples.c is ours.
 *
 *   buildbeat proc_stat 1 1000 user:10ms:c system:10ms:c running:1:g ...
 *   4,1,2
 *   103,22,-1
 *   +3 88,,1
 *   @7042 97,12
 *   !60000 =5120,611,1
 *
 * First line: name, version, interval in ms, columns as name:unit:kind (c a
 * counter, g a gauge). Each further line is a sample: the change of every
 * column since the line before, comma separated, zero empty, empty ones at the
 * end left out. Before the first, every column is 0. A counter starts at 0 with
 * the first sample. "=" before the values: they are levels, not changes; such
 * a line comes at least every 260 lines and has its time, so that a reader can go
 * on there after a damaged one.
 * Without a time the sample is at the next point of the grid (multiples
 * of the interval since the recording's start; the first at 0). "+k": k points
 * on, and the samples between were the same as the line before. "@ms": at that
 * time, the points passed were the same; it belongs to the nearest point, the
 * later of two. "!ms": so too, but samples before it are missing. "~ms": so too, none
 * is missing, but those at the points passed were not the same: from the line before
 * to this one it went on evenly.
 * A line without any change is not written, except on request and around gaps.
 * A new first line may come in the middle (a disk was plugged in): the grid and
 * all levels start from nothing again, and a reader adds to each counter what
 * the column of that name had reached.
 */

#define SERIES_NAME_MAX 64	/* of a column, its NUL included */
#define SERIES_UNIT_MAX 12
#define SERIES_LINE_MAX 65536
#define SERIES_KEY_LINES 256	/* a line of levels at least that often */

struct series_column {
	char name[SERIES_NAME_MAX];
	char unit[SERIES_UNIT_MAX];
	bool counter;
};

struct series_writer {
	size_t n_columns;
	int64_t *level;		/* as written last, lent by the caller */
	int64_t interval_ms;
	int64_t grid;		/* grid point of the last line, -1 before the first */
	int64_t seen_grid;	/* grid point of the last sample, written or not */
	unsigned since_key;	/* lines since the last line of levels */
	bool want_key;
};

/* level: memory for n_columns numbers that lives as long as the writer. */
void series_writer_init(struct series_writer *w, int64_t *level, size_t n_columns,
			int64_t interval_ms);

/* The first line (also to begin anew with other columns: call init before). */
void series_add_header(struct buf *b, const char *name, int64_t interval_ms,
		       const struct series_column *columns, size_t n_columns);

/*
 * One sample at t_us (microseconds since the recording's start, never going
 * back) with these levels, appended as at most one line, or two after a gap.
 * force: write it also when nothing changed (the last sample of a build, a
 * snapshot).
 */
void series_add(struct series_writer *w, struct buf *b, int64_t t_us,
		const int64_t *level, bool force);

/*
 * The parts of it, for a log with lines of its own (usage_log.h): the time and
 * the "=" of a line, if one is due (true; *key: it carries levels) or write is
 * set; and the values. from NULL: levels.
 */
bool series_begin(struct series_writer *w, struct buf *b, int64_t t_us, bool write, bool *key);
void series_add_values(struct buf *b, const int64_t *from, const int64_t *to, size_t n);

/* A line did not reach the file (a part that did was removed again): the next one
 * carries levels and is marked as coming after a gap. */
void series_lost(struct series_writer *w);

#endif
