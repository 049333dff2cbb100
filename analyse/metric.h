/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_METRIC_H
#define BUILDBEAT_ANALYSE_METRIC_H

#include "analyse/value.h"

/*
 * What builds are compared by. A column has one value of each task. A metric, which is
 * compared, is one column or the sum of two. A total is a value of the whole build.
 * Options, configuration, JSON and the archive use their names.
 */
enum value_column {
	COLUMN_START_US,	/* since the build's start, of its first run */
	COLUMN_WALL_US,
	COLUMN_USER_US,
	COLUMN_SYSTEM_US,
	COLUMN_MAX_RSS_KB,	/* of the largest process */
	COLUMN_PEAK_KB,		/* of all its processes at one sample */
	COLUMN_READ_BYTES,	/* of storage, as the next */
	COLUMN_WRITTEN_BYTES,
	COLUMN_RCHAR,
	COLUMN_WCHAR,
	COLUMN_MINOR_FAULTS,
	COLUMN_MAJOR_FAULTS,
	COLUMN_VOLUNTARY_SWITCHES,
	COLUMN_INVOLUNTARY_SWITCHES,
	COLUMN_RUNS,		/* how many tasks of the recording it is */
	COLUMN_STATUS,		/* STATUS_ below */
	COLUMN_INSTRUCTIONS,	/* in user mode */
	COLUMNS,
};

/* How a task ended: 0 to 255 its exit status, then these. */
enum {
	STATUS_KILLED = 256,	/* and the signal */
	STATUS_FAILED = 512,	/* with what status is not known */
	STATUS_UNFINISHED,
};

extern const char *const metric_column_name[COLUMNS];	/* "wall_us" ... */

enum metric {
	METRIC_WALL,
	METRIC_CPU,		/* user and system */
	METRIC_MEMORY,		/* of the largest process */
	METRIC_PEAK,		/* of all processes of a task at once */
	METRIC_IO,		/* read and written */
	METRIC_READ,
	METRIC_WRITTEN,
	METRIC_INSTRUCTIONS,	/* in user mode */
	METRICS,
};

#define METRIC_BIT(m) (1u << (m))

/* The metrics that are compared by default; and instructions if a build has them. */
#define METRICS_USUAL (METRIC_BIT(METRIC_WALL) | METRIC_BIT(METRIC_CPU) | \
		       METRIC_BIT(METRIC_MEMORY) | METRIC_BIT(METRIC_IO))

struct metric_info {
	const char *name;	/* "wall" */
	const char *title;	/* "wall time" */
	enum unit unit;
	enum value_column column[2];	/* of one column: the same twice */
	bool time;		/* a slow host makes it larger */
	double share, least;	/* a change of less than either does not matter by default */
	double finest;		/* a change of less is the machine's, however short the build is */
};

extern const struct metric_info metric_info[METRICS];

/* Their names, ending with NULL. metric_find() returns METRICS for an unknown name. */
extern const char *const metric_word[METRICS + 1];
enum metric metric_find(const char *name);

/* Whether one cause changes both: the same metric, or two times. */
bool metric_is_akin(enum metric a, enum metric b);

enum total {
	TOTAL_WALL_US,
	TOTAL_USER_US,		/* of the build's process and all below, or of its tasks */
	TOTAL_SYSTEM_US,
	TOTAL_MAX_RSS_KB,	/* of the largest process */
	TOTAL_PEAK_KB,		/* of all tasks at once */
	TOTAL_READ_BYTES,	/* of its tasks */
	TOTAL_WRITTEN_BYTES,
	TOTAL_INSTRUCTIONS,	/* of the build's process and all below, or of its tasks */
	TOTAL_TASKS,
	TOTAL_FAILED,		/* tasks failed, killed or not finished */
	TOTAL_RUNNING_MAX,	/* tasks at once */
	TOTAL_STATUS,		/* as COLUMN_STATUS */
	/* of the machine while it ran */
	TOTAL_HOST_USER_US,
	TOTAL_HOST_SYSTEM_US,
	TOTAL_HOST_IOWAIT_US,
	TOTAL_HOST_STEAL_US,
	TOTAL_HOST_MEMORY_PEAK_BYTES,
	TOTAL_HOST_SWAP_PEAK_BYTES,
	TOTAL_HOST_OOM_KILLS,
	TOTAL_HOST_DISK_READ_BYTES,
	TOTAL_HOST_DISK_WRITTEN_BYTES,
	TOTAL_HOST_NET_RECEIVED_BYTES,
	TOTAL_HOST_NET_SENT_BYTES,
	TOTAL_HOST_STALLED_CPU_US,
	TOTAL_HOST_STALLED_IO_US,
	TOTAL_HOST_STALLED_MEMORY_US,
	/* time of 1,000 calibration loops: as many us as the shortest took ns */
	TOTAL_HOST_CALIBRATION_START_US,
	TOTAL_HOST_CALIBRATION_END_US,
	TOTALS,
};

struct metric_total_info {
	const char *name;	/* "wall_us" ... */
	const char *title;
	enum unit unit;
};

extern const struct metric_total_info metric_total_info[TOTALS];

/* The totals whose sum a metric of the whole build is, as the columns in metric_info; of one total:
 * the same twice. */
extern const enum total metric_totals[METRICS][2];

/* Of a build as a whole, from its totals (-1: not known); NaN where that is not known. */
double metric_total(const int64_t *total, enum metric m);

#endif
