/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_SAMPLER_PARSE_H
#define BUILDBEAT_SAMPLER_PARSE_H

#include "sampler/root.h"
#include "sampler/roster.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Parsers for the texts of /proc and of control groups. They touch no file. They end whatever the
 * bytes are, and return false or 0 if they find nothing they know.
 */

/* The next line of c as a cursor of its own. False at the end. */
bool parse_line(struct cursor *c, struct cursor *line);

/* Files of lines "KEY: NUMBER unit" or "KEY NUMBER". */
struct want {
	const char *key;
	uint64_t value;
	bool found;
	size_t at;		/* offset of its line, which is usually the same the next time */
};

/* Fill in the n wanted values and return how many were found. All lines are searched only if
 * some have moved since the last time. */
size_t parse_keyed(const struct root_text *t, struct want *want, size_t n);

/* /proc/stat without its cores */
struct parse_stat_values {
	uint64_t user, system, iowait, irq, steal, nice;	/* 10 ms */
	uint64_t running, blocked;
};

bool parse_stat(const struct root_text *t, struct parse_stat_values *f);

/* The cores of /proc/stat: busy time in 10 ms, added to t (see roster_count). Number of cores. */
size_t parse_cores(const struct root_text *text, struct roster *r, struct table *t);

/* The first number of /proc/loadavg, in hundredths. */
bool parse_loadavg(const struct root_text *t, uint64_t *load);

/* The columns of a disk and of an interface in their tables. */
enum parse_disk { DISK_WRITTEN, DISK_BUSY, DISK_WRITES, DISK_READ, DISK_READS, DISK_COLUMNS };
enum parse_net { NET_RX, NET_TX, NET_COLUMNS };

size_t parse_diskstats(const struct root_text *text, struct roster *r, struct table *t);
size_t parse_net_dev(const struct root_text *text, struct roster *r, struct table *t);

/* The same of one disk, from its /sys/block/NAME/stat. */
bool parse_disk_stat(const struct root_text *text, uint64_t out[DISK_COLUMNS]);

/* Is this device listed in a diskstats text? */
bool parse_diskstats_has(const struct root_text *text, struct slice name);

/* A pressure file: the total time stalled, in microseconds. */
struct parse_stalls {
	uint64_t some_us, full_us;
	bool has_some, has_full;
};

bool parse_pressure(const struct root_text *t, struct parse_stalls *p);

/* io.stat (v2) or blkio.throttle.io_service_bytes (v1): bytes read and written, summed over the
 * devices (MAJOR:MINOR) that r counts. Number of known lines. */
size_t parse_io_stat(const struct root_text *text, struct roster *r, uint64_t bytes[2]);

/* /proc/PID/cgroup: the path of the group for a v1 controller, or for v2 if controller is NULL. */
bool parse_cgroup_path(const struct root_text *t, const char *controller, struct slice *path);

/*
 * /proc/PID/mountinfo: where that hierarchy is mounted, and which of its directories is visible
 * there. Both are unescaped.
 */
struct cgroup_mount {
	char point[512];
	char root[512];
};

bool parse_cgroup_mount(const struct root_text *t, const char *controller, struct cgroup_mount *m);

/* /proc/PID/stat */
struct pid_stat {
	int32_t parent;
	char state;
	bool kernel;		/* a thread of the kernel */
	uint64_t minor_faults, major_faults;	/* own */
	uint64_t user_ticks, system_ticks;	/* own */
	uint64_t cpu_ticks;	/* both, and those of children that it waited for */
	uint64_t threads;
	uint64_t start_ticks;
	uint64_t rss_pages;
	char name[16];		/* of the program, truncated */
};

bool parse_pid_stat(const struct root_text *t, struct pid_stat *s);

/* /proc/PID/schedstat, of a thread */
struct pid_sched {
	uint64_t run_ns;	/* on a processor */
	uint64_t wait_ns;	/* ready to run, waiting for one */
	uint64_t runs;		/* how often it was given one */
};

bool parse_pid_sched(const struct root_text *t, struct pid_sched *s);

/* /proc/PID/status: the numbers of a process in its PID namespaces, the outermost first. */
#define PID_NUMBERS_MAX 33	/* as many as the kernel nests */

struct pid_numbers {
	int32_t parent;
	size_t n;
	int32_t number[PID_NUMBERS_MAX];
};

bool parse_pid_numbers(const struct root_text *t, struct pid_numbers *p);

/* Whole disks, and interfaces without hardware, by their names: for machines without /sys. */
bool parse_disk_is_whole(struct slice name);
bool parse_disk_is_layer(struct slice name);
bool parse_net_is_virtual(struct slice name);

#endif
