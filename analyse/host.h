/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_HOST_H
#define BUILDBEAT_ANALYSE_HOST_H

#include "recording/column.h"

/*
 * What the proc_*.log files say of the machine during the build: sums and peaks
 * over the recording. -1: not recorded.
 */
enum host_pressure {
	PRESSURE_CPU_SOME, PRESSURE_IO_SOME, PRESSURE_IO_FULL,
	PRESSURE_MEMORY_SOME, PRESSURE_MEMORY_FULL, PRESSURES,
};

/* The calibration loop at one time, see sampler/calibration.h. */
struct host_calibration {
	int64_t least_ns, mean_ns, mhz;
};

struct host {
	int64_t span_us;	/* first sample to last, of CPU */
	int64_t user_us, system_us;	/* nice within user, interrupts within system */
	int64_t iowait_us, steal_us;

	struct moment memory_used_bytes;	/* total less available, or less
						   free, buffers, cached */
	int64_t memory_total_bytes;
	struct moment cgroup_memory_bytes;
	struct moment swap_used_bytes;
	int64_t swapped_in_bytes, swapped_out_bytes;
	int64_t oom_kills;

	int64_t disk_read_bytes, disk_written_bytes;
	struct moment disk_busiest_bytes;	/* read and written in one second */
	int64_t net_received_bytes, net_sent_bytes;

	int64_t pressure_span_us;
	int64_t stalled_us[PRESSURES];

	struct host_calibration start, end;

	size_t samples;
	size_t gaps;		/* times when samples are missing */
};

void host_fill(struct host *h, const struct recording *rec);

#endif
