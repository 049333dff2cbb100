/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_INSPECT_WHOLE_MACHINE_H
#define BUILDBEAT_INSPECT_WHOLE_MACHINE_H

#include "sampler/root.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What the machine does: its processors, memory, disks and pressure, as /proc has them. Shares are
 * in thousandths of the time since the reading before; -1: unknown.
 */
#define MACHINE_DISKS_MAX 64
#define MACHINE_FRESH_US 500000

enum machine_time {
	MACHINE_USER, MACHINE_SYSTEM, MACHINE_IOWAIT, MACHINE_STEAL, MACHINE_IDLE, MACHINE_TIMES
};

struct machine_cpu {
	int32_t number;			/* -1: all together */
	uint64_t ticks[MACHINE_TIMES];
	int32_t permille[MACHINE_TIMES];	/* 0 to 1000 */
};

struct machine_disk {
	char name[32];
	uint64_t read_kb, written_kb, busy_ms;	/* since the machine started */
	int64_t read_kb_s, written_kb_s;
	int32_t busy_permille;
};

/* In KiB; free, cache, anonymous and kernel add up to total. */
struct machine_memory {
	uint64_t total, free, cache, anonymous, kernel, available, swap, swap_total;
};

enum machine_pressure {
	MACHINE_CPU_SOME, MACHINE_MEMORY_SOME, MACHINE_MEMORY_FULL, MACHINE_IO_SOME,
	MACHINE_IO_FULL, MACHINE_PRESSURES
};

struct whole_machine {
	int64_t time_us, elapsed_us;	/* CLOCK_MONOTONIC; elapsed 0: the first reading */
	size_t n_cpus;			/* the first is all together */
	struct machine_cpu *cpu;
	struct machine_memory memory;
	size_t n_disks;
	struct machine_disk disk[MACHINE_DISKS_MAX];
	bool has_pressure;
	uint64_t stalled_us[MACHINE_PRESSURES];
	int32_t pressure_permille[MACHINE_PRESSURES];
	uint64_t load;			/* of the last minute, in hundredths */
	uint64_t running, blocked;	/* threads */
	struct root root;		/* private, as the next */
	struct root_text text;
};

/* NULL: /proc. 0 or a negative errno. */
int whole_machine_init(struct whole_machine *m, const char *proc);
void whole_machine_release(struct whole_machine *m);

/* Read it; within half a second after a reading nothing changes. 0 or a negative errno. */
int whole_machine_read(struct whole_machine *m, int64_t now_us);

#endif
