/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_SAMPLER_SAMPLER_H
#define BUILDBEAT_SAMPLER_SAMPLER_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The host's and the build's figures, from /proc and /sys into the proc_*.log
 * files of one recording. One sampler a recording. Everything is allocated and
 * opened at the start; a sample opens nothing, allocates nothing and prints
 * nothing. A file of /proc that is missing or fails drops its log, not the rest.
 * A thing that appears during the recording (a disk, an interface) is an
 * exception: it is looked up once, and gives its log a new first line.
 *
 * The logs and their columns; a column the kernel does not give is not there.
 * Counters start at 0 with the recording. Readers look columns up by name.
 *
 * proc_stat	user system iowait irq steal nice (10 ms of one core; irq holds
 *		softirq, user and nice hold guests), running, blocked (processes now;
 *		the sampler itself not counted), load (0.01, of the last minute)
 * proc_cores	one column a core, named cpu0 ...: 10 ms busy (all but idle, iowait
 *		and steal). Only if asked for
 * proc_meminfo	free available buffers cached shmem slab dirty writeback swap (used)
 *		total swap_total (MiB)
 * proc_diskstats	DEV.written DEV.read (KiB), DEV.writes DEV.reads (requests), DEV.busy
 *		(ms) of whole devices: what lies on top of others (partitions, dm,
 *		md, loop, zram) is left out, so that devices may be added up
 * proc_net	IF.rx IF.tx (KiB) of interfaces with hardware behind them; where
 *		none has (containers), of all but lo, veth, bridges and the like
 * proc_pressure	cpu.some io.some io.full memory.some memory.full (ms)
 * proc_vmstat	pgpgin pgpgout (MiB), pswpin pswpout (KiB), pgmajfault, oom_kill
 * proc_cgroup	the build's own control group, where it has one: user system throttled
 *		(ms), memory swap (MiB), peak (MiB, since the group was made), written
 *		read (KiB), and the five pressures
 * proc_tasks	see usage_log.h
 *
 * Over 64 disks or interfaces, or 1024 cores, the further ones are summed up in
 * columns of the name "others".
 */
struct sampler;

struct sampler_options {
	const char *proc_root;	/* NULL: /proc */
	const char *sys_root;	/* NULL: /sys */
	int64_t interval_ms;	/* 10 to 3600000 */
	bool per_core;		/* proc_cores.log too */
	bool all_interfaces;	/* lo, veth and the like too */
	bool tasks;		/* proc_tasks.log: the process tree of every running task */
};

/*
 * dir_fd: the recording's directory (duplicated), start_ns: its CLOCK_MONOTONIC
 * start. 0, or a negative errno with err filled.
 */
int sampler_new(struct sampler **out, int dir_fd, int64_t start_ns,
		const struct sampler_options *options, struct error *err);

/* One sample now. forced: it is written even if nothing changed (start and end
 * of a build, a snapshot). */
void sampler_take(struct sampler *s, bool forced);

/* CLOCK_MONOTONIC time at which the next sample is due, in the past when it is
 * overdue. sampler_take() moves it to the next start + k * interval that is still
 * to come, so lateness never adds up and missed points are skipped. */
int64_t sampler_next_ns(const struct sampler *s);

/* 0, or what stopped a log from being written first (a negative errno). */
int sampler_error(const struct sampler *s);

/* NULL is fine. */
void sampler_free(struct sampler *s);

#endif
