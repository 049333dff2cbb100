/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_SAMPLER_RUNNING_H
#define BUILDBEAT_SAMPLER_RUNNING_H

#include "base/cursor.h"
#include "recording/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The tasks that run now, from the lines of tasks.log, and what their ended
 * inner tasks used: a process's figures contain those of the children it waited
 * for, so these have to be taken off again.
 */

#define RUNNING_MAX 1024	/* what starts beyond them is not sampled */
#define INSTANCES_MAX 512
#define ANCESTORS_READ 8
#define NO_SLOT SIZE_MAX

struct used {
	int64_t cpu_us;
	int64_t read_kb, written_kb;
};

struct running_task {
	char inst[INSTANCE_ID_MAX];	/* "": the slot is free */
	uint64_t seq;
	int32_t pid;		/* 0: not known yet, or known to be gone */
	uint64_t start_ticks;	/* of that process, 0 until it was seen */
	bool hosts;		/* an instance runs inside */
	bool sampled;		/* it was there when processes were read */
	struct used inner;	/* by the tasks inside it that ended */
	struct used total;	/* by its whole tree, as sampled last */
};

/* A process that writes tasks, and the task it runs inside. */
struct running_instance {
	char id[INSTANCE_ID_MAX];
	int32_t ancestor[ANCESTORS_READ];
	size_t n_ancestors;
	size_t outer;		/* slot or NO_SLOT */
};

struct running {
	struct running_task task[RUNNING_MAX];
	size_t top;		/* no slot from here on was ever used */
	struct running_instance instance[INSTANCES_MAX];
	size_t next_instance;	/* where the next one goes if none is free */
};

/* One line of tasks.log. True: its writer says it is through. */
bool running_take(struct running *r, struct slice line);

#endif
