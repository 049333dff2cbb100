/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_SAMPLER_RUNNING_H
#define BUILDBEAT_SAMPLER_RUNNING_H

#include "base/cursor.h"
#include "recording/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The tasks that run now, from the lines of tasks.log, and what their ended inner tasks used. The
 * values of a process contain those of the children that it waited for, so they must be
 * subtracted.
 */

#define RUNNING_MAX 1024	/* further tasks are not sampled */
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
	int32_t pid;		/* 0: not known yet, or it has ended */
	int32_t inner_pid;	/* its number in another PID namespace, in which host is; or 0 */
	int32_t host;		/* the process of the instance; 0: unknown */
	uint64_t start_ticks;	/* of that process; 0: not seen yet */
	bool hosts;		/* an instance runs in it */
	bool sampled;		/* it was running when the processes were read */
	struct used inner;	/* by the inner tasks that ended */
	struct used total;	/* by its whole tree, at the last sample */
	uint64_t delay_ns;	/* run-queue delay, as far as samples saw it */
};

/* A process that writes tasks, and the task in which it runs. */
struct running_instance {
	char id[INSTANCE_ID_MAX];
	int32_t pid;		/* 0: unknown */
	int32_t ancestor[ANCESTORS_READ];
	size_t n_ancestors;
	size_t outer;		/* slot or NO_SLOT */
};

struct running {
	struct running_task task[RUNNING_MAX];
	size_t top;		/* slots from this one up were never used */
	struct running_instance instance[INSTANCES_MAX];
	size_t next_instance;	/* the next one to replace if none is free */
};

/* Read one line of tasks.log. True: it was the last one of its writer. */
bool running_take(struct running *r, struct slice line);

/* The task of an instance in another PID namespace whose process is not known. host: the process of
 * the instance; inner_pid: the number of the task in the namespace of that process. Or NULL. */
struct running_task *running_find_inner(struct running *r, int32_t host, int32_t inner_pid);

/* The process of a task is known; 0: it is not. */
void running_set_pid(struct running *r, struct running_task *t, int64_t pid);

#endif
