/* SPDX-License-Identifier: MIT */
#include "render/chart/panel_bands.h"

/* The bands of all panels. */

static const struct panel_plan cpu = {
	.word = "cpu", .title = "CPU", .series = "proc_stat", .unit = AXIS_SHARE,
	.band = {
		{ "build", "this build", "its programs, and the kernel at work for them, of all cores",
		  MARK_STACK, false, COLOUR_BLUE, HOW_BUILD_CPU, .only = ONLY_OWN },
		{ "other", "other processes", "everything else on the machine, interrupts included",
		  MARK_STACK, false, COLOUR_GREY, HOW_CORES, .only = ONLY_OWN,
		  .term = { { .name = "user" }, { .name = "nice", .maybe = true },
		      { .name = "system" }, { .name = "irq", .maybe = true } } },
		{ "user", "user", "programs computing, of all cores",
		  MARK_STACK, false, COLOUR_BLUE, HOW_CORES, .only = ONLY_ALL,
		  .term = { { .name = "user" }, { .name = "nice", .maybe = true } } },
		{ "system", "system", "the kernel at work for them, interrupts included",
		  MARK_STACK, false, COLOUR_ORANGE, HOW_CORES, .only = ONLY_ALL,
		  .term = { { .name = "system" }, { .name = "irq", .maybe = true } } },
		{ "iowait", "I/O wait", "idle, while programs waited for disks",
		  MARK_STACK, false, COLOUR_YELLOW, HOW_CORES, .term = { { .name = "iowait" } } },
		{ "steal", "steal", "taken away by other virtual machines",
		  MARK_STACK, false, COLOUR_RED, HOW_CORES, .term = { { .name = "steal" } } },
	},
};

static const struct panel_plan running = {
	.word = "running", .title = "Running tasks", .unit = AXIS_COUNT, .right_unit = AXIS_COUNT,
	.band = {
		{ "tasks", "running tasks", "tasks at once, without those that wait for a build "
		  "of their own", MARK_AREA, false, COLOUR_BLUE, .how = HOW_EVENTS },
		{ "waiting", "ready, waiting", "tasks that could have run: what they needed was made, "
		  "but no worker, pool or load allowed it", MARK_LINE, false, COLOUR_RED, HOW_EVENTS,
		  .quiet = true },
	},
};

#define TASK(id, colour) { id, NULL, "all its processes together, as sampled", \
		  MARK_STACK, false, colour, HOW_TASK, .quiet = true }
#define USED { { .name = "total" }, { .name = "free", .minus = true }, \
		      { .name = "cached", .minus = true }, \
		      { .name = "buffers", .minus = true, .maybe = true }, \
		      { .name = "slab", .minus = true, .maybe = true }, \
		      { .name = "shmem", .maybe = true } }

static const struct panel_plan memory = {
	.word = "memory", .title = "Memory of the tasks", .series = "proc_meminfo",
	.unit = AXIS_BYTES, .right_unit = AXIS_BYTES,
	.band = {
		TASK("task1", COLOUR_BLUE), TASK("task2", COLOUR_ORANGE), TASK("task3", COLOUR_SKY),
		TASK("task4", COLOUR_RED), TASK("task5", COLOUR_YELLOW),
		TASK("task6", COLOUR_PURPLE),
		{ "tasks", "other tasks", "all processes of the other running tasks",
		  MARK_STACK, false, COLOUR_GREY, HOW_TASKS, .quiet = true },
		{ "used", "used on the machine", "held by all programs and the kernel",
		  MARK_LINE, true, COLOUR_GREEN, HOW_LEVEL, .term = USED, .only = ONLY_OWN },
	},
};

static const struct panel_plan machine = {
	.word = "machine", .title = "Memory of the machine", .series = "proc_meminfo",
	.unit = AXIS_BYTES, .right_unit = AXIS_BYTES,
	.band = {
		{ "used", "used", "held by programs and the kernel; shared memory and tmpfs "
		  "included", MARK_STACK, false, COLOUR_BLUE, HOW_LEVEL,
		  .term = USED },
		{ "cached", "cached files", "contents of files, given up when memory is needed",
		  MARK_STACK, false, COLOUR_SKY, HOW_LEVEL,
		  .term = { { .name = "cached" },
		      { .name = "shmem", .minus = true, .maybe = true } } },
		{ "buffers", "buffers, slab", "the kernel's own caches: blocks of disks, names, "
		  "inodes", MARK_STACK, false, COLOUR_GREY, HOW_LEVEL,
		  .term = { { .name = "buffers", .maybe = true },
		      { .name = "slab", .maybe = true } } },
		{ "available", "available", "what programs could still get without swapping",
		  MARK_LINE, false, COLOUR_GREEN, HOW_LEVEL, .term = { { .name = "available" } } },
		{ "swap", "swap used", "memory moved out to disk",
		  MARK_LINE, false, COLOUR_RED, HOW_LEVEL,
		  .term = { { .name = "swap" } }, .quiet = true },
	},
};

static const struct panel_plan disk = {
	.word = "disk", .title = "Disk", .series = "proc_diskstats",
	.unit = AXIS_BYTES_A_SECOND, .right_unit = AXIS_SHARE,
	.band = {
		{ "read", "read", "from all disks", MARK_STACK, false, COLOUR_BLUE, HOW_RATE,
		  .term = { { .name = "*.read" } } },
		{ "written", "written", "to all disks", MARK_STACK, false, COLOUR_ORANGE, HOW_RATE,
		  .term = { { .name = "*.written" } } },
		{ "build", "this build", "read and written by its processes; writes when they reach the "
		  "cache", MARK_LINE, false, COLOUR_GREEN, HOW_BUILD_DISK, .only = ONLY_OWN,
		  .quiet = true },
		{ "busy", "busy", "time with requests under way, of the busiest disk at each "
		  "moment", MARK_LINE, true, COLOUR_PURPLE, HOW_BUSIEST,
		  .term = { { .name = "*.busy" } } },
	},
};

static const struct panel_plan net = {
	.word = "net", .title = "Network", .series = "proc_net", .unit = AXIS_BYTES_A_SECOND,
	.band = {
		{ "rx", "received", "through all interfaces", MARK_STACK, false, COLOUR_BLUE,
		  HOW_RATE, .term = { { .name = "*.rx" } }, .quiet = true },
		{ "tx", "sent", "through all interfaces", MARK_STACK, false, COLOUR_ORANGE,
		  HOW_RATE, .term = { { .name = "*.tx" } }, .quiet = true },
	},
};

static const struct panel_plan pressure = {
	.word = "pressure", .title = "Pressure", .series = "proc_pressure", .unit = AXIS_SHARE,
	.band = {
		{ "io_full", "I/O, all", "time in which nothing ran as everything waited for disks",
		  MARK_AREA, false, COLOUR_ORANGE, HOW_SHARE,
		  .term = { { .name = "io.full" } }, .quiet = true },
		{ "memory_full", "memory, all", "time in which nothing ran as everything waited "
		  "for memory", MARK_AREA, false, COLOUR_PURPLE, HOW_SHARE,
		  .term = { { .name = "memory.full" } }, .quiet = true },
		{ "cpu_some", "CPU", "time in which something waited for a core",
		  MARK_LINE, false, COLOUR_BLUE, HOW_SHARE,
		  .term = { { .name = "cpu.some" } }, .quiet = true },
		{ "io_some", "I/O", "time in which something waited for disks",
		  MARK_LINE, false, COLOUR_RED, HOW_SHARE,
		  .term = { { .name = "io.some" } }, .quiet = true },
		{ "memory_some", "memory", "time in which something waited for memory",
		  MARK_LINE, false, COLOUR_GREEN, HOW_SHARE,
		  .term = { { .name = "memory.some" } }, .quiet = true },
	},
};

static const struct panel_plan cgroup = {
	.word = "cgroup", .title = "The build's control group", .series = "proc_cgroup",
	.unit = AXIS_BYTES, .right_unit = AXIS_SHARE,
	.band = {
		{ "memory", "memory", "memory charged to the group, including cached files",
		  MARK_AREA, false, COLOUR_SKY, HOW_LEVEL, .term = { { .name = "memory" } } },
		{ "cpu", "CPU", "time its programs and the kernel computed for it, of all cores",
		  MARK_LINE, true, COLOUR_BLUE, HOW_CORES,
		  .term = { { .name = "user" }, { .name = "system" } } },
		{ "throttled", "throttled", "time its programs were held back by a limit, of all "
		  "cores", MARK_LINE, true, COLOUR_RED, HOW_CORES,
		  .term = { { .name = "throttled" } }, .quiet = true },
	},
};

#define VOLUME(id, colour) { id, NULL, "space taken on it since it had least", \
		  MARK_LINE, false, colour, .how = HOW_VOLUME }

static const struct panel_plan volumes = {
	.word = "volumes", .title = "Disk space taken", .series = "proc_volumes",
	.unit = AXIS_BYTES,
	.band = {
		VOLUME("volume1", COLOUR_BLUE), VOLUME("volume2", COLOUR_ORANGE),
		VOLUME("volume3", COLOUR_GREEN), VOLUME("volume4", COLOUR_PURPLE),
	},
};

const struct panel_plan *const panel_plan[PANELS] = {
	[PANEL_CPU] = &cpu, [PANEL_RUNNING] = &running, [PANEL_MEMORY] = &memory,
	[PANEL_DISK] = &disk, [PANEL_NET] = &net, [PANEL_PRESSURE] = &pressure,
	[PANEL_CGROUP] = &cgroup, [PANEL_MACHINE] = &machine,
	[PANEL_VOLUMES] = &volumes,
};
