/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RENDER_CHART_PACK_TASKS_H
#define BUILDBEAT_RENDER_CHART_PACK_TASKS_H

#include "render/chart/chart.h"
#include "render/chart/pack_code.h"

#include <stddef.h>
#include <stdint.h>

/* The columns of tasks being packed, in the order of pack_chart.h, which describes them. */
enum pack_task_column {
	TASKS_START, TASKS_WALL, TASKS_LANE, TASKS_KIND, TASKS_MARKS, TASKS_STATUS, TASKS_CPU,
	TASKS_CPU_HIGH, TASKS_SYSTEM, TASKS_SYSTEM_HIGH, TASKS_MEMORY, TASKS_READ, TASKS_WRITTEN, TASKS_QUEUED, TASKS_READY, TASKS_PLACE,
	TASKS_NAME, TASKS_PROGRAM, TASKS_PARENT, TASKS_WAIT, TASKS_BEFORE,
	TASKS_GHOST_START, TASKS_GHOST_WALL,
	TASKS_SPARK_TASK, TASKS_SPARK_LENGTH, TASKS_SPARK,
	TASKS_PULSE_TASK, TASKS_PULSE_LENGTH, TASKS_PULSE, TASKS_COMMAND_TASK,
	TASKS_LINES_TASK, TASKS_LINES, TASKS_PATH, TASKS_PATH_LINK, TASKS_DEPENDENCY,
	TASKS_TOOL, TASKS_INSTANCE, TASKS_SEQ, WAITED_TASK,
	WAITED_WORKER, WAITED_POOL, WAITED_LOAD, WAITED_DELAYED, WAITED_OTHER, WAITED_ORDER,
	DEPEND_TASK, DEPEND_ALL, DEPEND_LENGTH, DEPEND, LOG_TASK,
	PHASES_TASK, PHASES_START, PHASES_WALL, PHASES_NAME,
	TASKS_FILES, TASKS_CACHE,
	TASKS_DIFFERENCE, OTHER_START, OTHER_WALL, OTHER_LANE, OTHER_TASK, OTHER_NAME,
	TASK_COLUMNS,
};

/* In bits of the column "marks". */
enum task_mark {
	MARK_STATE = 3,		/* 0 done, 1 failed, 2 killed, 3 unfinished */
	MARK_HOSTS = 4,		/* ran a build of its own */
	MARK_SUMMED = 8,	/* memory is that of all its processes */
	MARK_CRITICAL = 16,	/* on the path */
	MARK_IO = 32,		/* read and written are known */
	MARK_GHOST = 64,	/* the other build has it too */
	MARK_AT_MOST = 128,	/* memory is an upper bound */
	MARK_END_AT_MOST = 256,	/* so is the end */
	MARK_AT_LEAST = 512,	/* CPU time is a lower bound */
};

#define PACK_TOOLS_MAX 50

struct pack_tasks {
	const struct chart *chart;
	double per_us;		/* units */
	struct pack_column column[TASK_COLUMNS];
	size_t n_tools;
	const char *tool[PACK_TOOLS_MAX];	/* the last stands for all further ones */
	struct pack_dictionary names, places, programs, phases;
	struct buf commands, log;
	struct pack_logs logs;
	uint32_t *position;	/* of each task of the recording in summary.order */
	uint8_t *critical;	/* by position, as is */
	int32_t *wall;		/* in units */
};

/* Name and type of each column. */
extern const struct pack_task_info {
	const char *name;
	char type;
} pack_task_column[TASK_COLUMNS];

/* 0 or -ENOMEM. Always release. */
int pack_tasks_make(struct pack_tasks *p, const struct chart *c, int64_t unit_us);
void pack_tasks_release(struct pack_tasks *p);

/* Rounded to units; less than 2^30. */
static inline int32_t to_unit(double per_us, int64_t us)
{
	double v = (double)us * per_us + .5;

	return v < 0 ? 0 : v > 1 << 30 ? 1 << 30 : (int32_t)v;
}

#endif
