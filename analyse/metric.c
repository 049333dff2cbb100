/* SPDX-License-Identifier: MIT */
#include "analyse/metric.h"

#include "base/saturate.h"

#include <math.h>
#include <string.h>

const char *const metric_column_name[COLUMNS] = {
	[COLUMN_START_US] = "start_us",
	[COLUMN_WALL_US] = "wall_us",
	[COLUMN_USER_US] = "user_us",
	[COLUMN_SYSTEM_US] = "system_us",
	[COLUMN_MAX_RSS_KB] = "max_rss_kb",
	[COLUMN_PEAK_KB] = "peak_kb",
	[COLUMN_READ_BYTES] = "read_bytes",
	[COLUMN_WRITTEN_BYTES] = "written_bytes",
	[COLUMN_RCHAR] = "rchar",
	[COLUMN_WCHAR] = "wchar",
	[COLUMN_MINOR_FAULTS] = "minor_faults",
	[COLUMN_MAJOR_FAULTS] = "major_faults",
	[COLUMN_VOLUNTARY_SWITCHES] = "voluntary_switches",
	[COLUMN_INVOLUNTARY_SWITCHES] = "involuntary_switches",
	[COLUMN_RUNS] = "runs",
	[COLUMN_STATUS] = "status",
	[COLUMN_INSTRUCTIONS] = "instructions",
};

#define USUAL_SHARE 0.05	/* builds seldom vary by more */
#define COUNTED_SHARE 0.005	/* a program that does the same executes as many instructions, within .1 % */

/* A second of CPU, two of waiting, 16 MiB, 128 KiB: the floors that buildstats-diff's users
 * settled on, which no share of a small task passes. For short builds: a few time slices of the
 * scheduler, what the page cache moves, some pages of metadata. Ten million instructions take some
 * 3 ms, and a hundred thousand are those of a loader. */
const struct metric_info metric_info[METRICS] = {
	[METRIC_WALL] = { "wall", "wall time", UNIT_US,
			  { COLUMN_WALL_US, COLUMN_WALL_US }, true, USUAL_SHARE, 2e6, 1e4 },
	[METRIC_CPU] = { "cpu", "CPU time", UNIT_US,
			 { COLUMN_USER_US, COLUMN_SYSTEM_US }, true, USUAL_SHARE, 1e6, 1e4 },
	[METRIC_MEMORY] = { "memory", "memory of the largest process", UNIT_KB,
			    { COLUMN_MAX_RSS_KB, COLUMN_MAX_RSS_KB }, false, USUAL_SHARE, 16384, 1024 },
	[METRIC_PEAK] = { "peak", "memory of all processes", UNIT_KB,
			  { COLUMN_PEAK_KB, COLUMN_PEAK_KB }, false, USUAL_SHARE, 16384, 1024 },
	[METRIC_IO] = { "io", "bytes read and written", UNIT_BYTES,
			{ COLUMN_READ_BYTES, COLUMN_WRITTEN_BYTES }, false, USUAL_SHARE, 131072, 65536 },
	[METRIC_READ] = { "read", "bytes read", UNIT_BYTES,
			  { COLUMN_READ_BYTES, COLUMN_READ_BYTES }, false, USUAL_SHARE, 131072, 65536 },
	[METRIC_WRITTEN] = { "written", "bytes written", UNIT_BYTES,
			     { COLUMN_WRITTEN_BYTES, COLUMN_WRITTEN_BYTES }, false, USUAL_SHARE, 131072, 65536 },
	[METRIC_INSTRUCTIONS] = { "instructions", "user instructions", UNIT_COUNT,
				  { COLUMN_INSTRUCTIONS, COLUMN_INSTRUCTIONS }, false, COUNTED_SHARE, 1e7, 1e5 },
};

const char *const metric_word[METRICS + 1] = {
	[METRIC_WALL] = "wall", [METRIC_CPU] = "cpu", [METRIC_MEMORY] = "memory", [METRIC_PEAK] = "peak",
	[METRIC_IO] = "io", [METRIC_READ] = "read", [METRIC_WRITTEN] = "written",
	[METRIC_INSTRUCTIONS] = "instructions",
};

const struct metric_total_info metric_total_info[TOTALS] = {
	[TOTAL_WALL_US] = { "wall_us", "wall time", UNIT_US },
	[TOTAL_USER_US] = { "user_us", "user CPU time", UNIT_US },
	[TOTAL_SYSTEM_US] = { "system_us", "system CPU time", UNIT_US },
	[TOTAL_MAX_RSS_KB] = { "max_rss_kb", "memory of the largest process", UNIT_KB },
	[TOTAL_PEAK_KB] = { "peak_kb", "memory of all tasks", UNIT_KB },
	[TOTAL_READ_BYTES] = { "read_bytes", "bytes read", UNIT_BYTES },
	[TOTAL_WRITTEN_BYTES] = { "written_bytes", "bytes written", UNIT_BYTES },
	[TOTAL_TASKS] = { "tasks", "tasks", UNIT_COUNT },
	[TOTAL_FAILED] = { "failed", "tasks that failed", UNIT_COUNT },
	[TOTAL_RUNNING_MAX] = { "running_max", "tasks at once", UNIT_COUNT },
	[TOTAL_STATUS] = { "status", "status", UNIT_STATUS },
	[TOTAL_HOST_USER_US] = { "host_user_us", "host: user CPU time", UNIT_US },
	[TOTAL_HOST_SYSTEM_US] = { "host_system_us", "host: system CPU time", UNIT_US },
	[TOTAL_HOST_IOWAIT_US] = { "host_iowait_us", "host: waiting for disks", UNIT_US },
	[TOTAL_HOST_STEAL_US] = { "host_steal_us", "host: stolen CPU time", UNIT_US },
	[TOTAL_HOST_MEMORY_PEAK_BYTES] = { "host_memory_peak_bytes", "host: memory used",
					   UNIT_BYTES },
	[TOTAL_HOST_SWAP_PEAK_BYTES] = { "host_swap_peak_bytes", "host: swap used", UNIT_BYTES },
	[TOTAL_HOST_OOM_KILLS] = { "host_oom_kills", "host: killed for memory", UNIT_COUNT },
	[TOTAL_HOST_DISK_READ_BYTES] = { "host_disk_read_bytes", "host: disks read",
					 UNIT_BYTES },
	[TOTAL_HOST_DISK_WRITTEN_BYTES] = { "host_disk_written_bytes", "host: disks written",
					    UNIT_BYTES },
	[TOTAL_HOST_NET_RECEIVED_BYTES] = { "host_net_received_bytes", "host: received",
					    UNIT_BYTES },
	[TOTAL_HOST_NET_SENT_BYTES] = { "host_net_sent_bytes", "host: sent", UNIT_BYTES },
	[TOTAL_HOST_STALLED_CPU_US] = { "host_stalled_cpu_us", "host: stalled for CPU", UNIT_US },
	[TOTAL_HOST_STALLED_IO_US] = { "host_stalled_io_us", "host: stalled for disks",
				       UNIT_US },
	[TOTAL_HOST_STALLED_MEMORY_US] = { "host_stalled_memory_us", "host: stalled for memory",
					   UNIT_US },
	[TOTAL_HOST_CALIBRATION_START_US] = { "host_calibration_start_us",
		"host: 1,000 calibration loops at the start", UNIT_US },
	[TOTAL_HOST_CALIBRATION_END_US] = { "host_calibration_end_us",
		"host: 1,000 calibration loops at the end", UNIT_US },
	[TOTAL_INSTRUCTIONS] = { "instructions", "user instructions", UNIT_COUNT },
};

bool metric_is_akin(enum metric a, enum metric b)
{
	return a == b || (metric_info[a].time && metric_info[b].time);
}

enum metric metric_find(const char *name)
{
	enum metric m = 0;

	while (m < METRICS && strcmp(metric_word[m], name))
		m++;
	return m;
}

const enum total metric_totals[METRICS][2] = {
	[METRIC_WALL] = { TOTAL_WALL_US, TOTAL_WALL_US },
	[METRIC_CPU] = { TOTAL_USER_US, TOTAL_SYSTEM_US },
	[METRIC_MEMORY] = { TOTAL_MAX_RSS_KB, TOTAL_MAX_RSS_KB },
	[METRIC_PEAK] = { TOTAL_PEAK_KB, TOTAL_PEAK_KB },
	[METRIC_IO] = { TOTAL_READ_BYTES, TOTAL_WRITTEN_BYTES },
	[METRIC_READ] = { TOTAL_READ_BYTES, TOTAL_READ_BYTES },
	[METRIC_WRITTEN] = { TOTAL_WRITTEN_BYTES, TOTAL_WRITTEN_BYTES },
	[METRIC_INSTRUCTIONS] = { TOTAL_INSTRUCTIONS, TOTAL_INSTRUCTIONS },
};

double metric_total(const int64_t *total, enum metric m)
{
	const enum total *of = metric_totals[m];
	int64_t a = total[of[0]], b = total[of[1]];

	if (a < 0 || b < 0)
		return NAN;
	return (double)(of[0] == of[1] ? a : sat_add(a, b));
}
