/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_SAMPLER_SAMPLER_H
#define BUILDBEAT_SAMPLER_SAMPLER_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Values of the machine and the build, read from /proc and /sys into the proc_*.log files of one
 * recording. A recording has one sampler. Everything is allocated and opened at the start; a
 * sample opens nothing, allocates nothing and prints nothing. If a file of /proc is missing or
 * fails, only its log is missing. The exception is a new disk or interface: it is looked up once
 * and gives its log a new header.
 *
 * The logs and their columns. Columns that the kernel does not have are missing. Counters start at
 * 0 with the recording. Readers find columns by name.
 *
 *	proc_stat       user system iowait irq steal nice (10 ms of one core; irq includes
 *	                softirq, user and nice include guests), running, blocked (processes now,
 *	                without the sampler itself), load (0.01, of the last minute).
 *	proc_cores      one column per core, named cpu0 ...: 10 ms busy (not idle, iowait or
 *	                steal). Only on request.
 *	proc_meminfo    free available buffers cached shmem slab dirty writeback swap (used)
 *	                total swap_total (MiB).
 *	proc_diskstats  DEV.written DEV.read (KiB), DEV.writes DEV.reads (requests), DEV.busy
 *	                (ms) of whole devices. Devices on top of others (partitions, dm, md,
 *	                loop, zram) are skipped, so that the columns can be summed.
 *	proc_net        IF.rx IF.tx (KiB) of interfaces with hardware. If no interface has
 *	                any (containers), of all except lo, veth, bridges and the like.
 *	proc_pressure   cpu.some io.some io.full memory.some memory.full (ms).
 *	proc_vmstat     pgpgin pgpgout (MiB), pswpin pswpout (KiB), pgmajfault, oom_kill.
 *	proc_cgroup     the build's own control group, if it has one: user system throttled
 *	                (ms), memory swap (MiB), peak (MiB, since the group was made), written
 *	                read (KiB), and the five pressures.
 *	proc_own        cpu (10 us), memory (MiB) of the launcher. Only on request.
 *	proc_tasks      see usage_log.h.
 *
 * With more than 64 disks or interfaces, or 1024 cores, the remaining ones are summed in columns
 * named "others".
 */
struct sampler;

struct sampler_source;
struct source_setup;
typedef int source_opener(struct sampler_source **out, const struct source_setup *setup);

source_opener own_open;

struct sampler_options {
	const char *proc_root;	/* NULL: /proc */
	const char *sys_root;	/* NULL: /sys */
	int64_t interval_ms;	/* 10 to 3600000 */
	bool per_core;		/* proc_cores.log too */
	bool all_interfaces;	/* lo, veth and the like too */
	bool tasks;		/* proc_tasks.log: the process tree of every running task */
	/* own_open: proc_own.log too, of this process, which is buildbeat's own. NULL: not. The
	 * plugin is smaller without it. */
	source_opener *own;
};

/*
 * dir_fd: the recording's directory (duplicated); start_ns: its CLOCK_MONOTONIC start. 0, or a
 * negative errno with err.
 */
int sampler_new(struct sampler **out, int dir_fd, int64_t start_ns,
		const struct sampler_options *options, struct error *err);

/* Take a sample now. forced: write it even if nothing changed (start and end of a build, a
 * snapshot). */
void sampler_take(struct sampler *s, bool forced);

/* CLOCK_MONOTONIC time of the next sample; in the past if it is overdue. sampler_take() sets it
 * to the next start + k * interval in the future, so delays never add up and missed samples are
 * skipped. */
int64_t sampler_next_ns(const struct sampler *s);

/* 0, or the first error of a log (a negative errno). */
int sampler_error(const struct sampler *s);

/* May be NULL. */
void sampler_free(struct sampler *s);

#endif
