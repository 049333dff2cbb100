/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_COST_H
#define BUILDBEAT_ANALYSE_COST_H

#include "analyse/value.h"
#include "recording/recording.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/*
 * The cost of tasks, so that it can be added up. The cost of a task that ran a make of its
 * own excludes that make: the values of the tasks inside it and the time in which any of
 * them ran are subtracted.
 */
struct cost {
	int64_t wall_us;	/* added up, also where tasks ran side by side */
	int64_t wall_least_us;	/* the same, if the end of a task was not seen: until a
				   sample. Such a task is not among the slowest for a bound */
	int64_t setup_us, setup_cpu_us;	/* of its process before the start: in no other value */
	int64_t user_us, system_us;
	int64_t cpu_us;		/* user and system */
	int64_t delay_us;	/* run-queue delay */
	int64_t read_bytes, written_bytes;	/* of storage */
	int64_t files_bytes;	/* of the files that it made; 0: none are known */
	int64_t memory_kb;	/* the largest, not the sum; 0: not known */
	int64_t memory_at_most_kb;	/* the largest upper bound of tasks whose memory is
					   not known; 0: none */
	int64_t start_us;	/* of the first */
	int64_t queue_us;	/* from ready to start, after wait_add_queues() */
	int64_t counted[VALUES_COUNTED];	/* from VALUE_COUNTED on */
	uint32_t known;		/* bits 1 << VALUE_START, VALUE_WALL, VALUE_QUEUE, VALUE_DELAY, VALUE_IO (of storage)
				   and of what is counted */
	bool measured;		/* CPU; otherwise it is not known */
	bool at_least;		/* CPU and storage: the last sample, as the end was not seen or
				   nobody waited for a process of the task. What is only
				   sampled is user time */
	bool delay_at_least;	/* as in struct task, or that of some of the tasks is not known */
	bool memory_summed;	/* memory_kb is that of all processes of a task at one
				   sample; otherwise of the largest process */
};

/* CPU time of a task with that of all tasks inside it, as every output shows it. -1: not known. */
struct cost_cpu {
	int64_t user_us, system_us;
	bool at_least;		/* as in struct cost, of the task or of one inside it */
};

/* What the tasks directly inside a task took. */
struct cost_inside {
	int64_t user_us, system_us, read_bytes, written_bytes;
	int64_t counted[VALUES_COUNTED];
	uint32_t missing;	/* bits 1 << VALUE_FAULTS and so on: a task does not know it */
	int64_t max_rss_kb;
	int64_t busy_us;	/* time when any of them ran */
	int64_t busy_until_us;
	struct cost_cpu cpu;
};

#define COST_INSIDE_INIT { .cpu = { -1, -1, false } }

/* One task's place among the others. */
struct nesting {
	uint32_t parent;	/* task it ran inside, or NO_INDEX */
	uint32_t target;	/* index into summary.target, NO_INDEX: never started */
	uint32_t next;		/* next task of the same target, or NO_INDEX */
	struct cost cost;
	struct cost_cpu cpu;
};

static inline bool cost_knows(const struct cost *c, enum value v)
{
	return c->known >> v & 1;
}

/* Which of its values are lower bounds: bits 1 << enum value_sampled. */
static inline unsigned cost_bounds(const struct cost *c)
{
	return (unsigned)c->at_least << VALUE_LAST_SAMPLE | (unsigned)c->delay_at_least << VALUE_SEEN_DELAY;
}

/* How long a task ran, 0 if it never started. */
int64_t cost_wall_us(const struct recording *rec, const struct task *t);

/* Did it start. */
static inline bool task_ran(const struct task *t)
{
	return t->start_us >= 0 && t->state != TASK_QUEUED;
}

void cost_add(struct cost *sum, const struct cost *c);

/*
 * Fill parent, cost and cpu of every task. order: the indices of the n tasks that
 * ran, by their start.
 */
int cost_fill(struct nesting *nest, const struct recording *rec, const uint32_t *order,
		 size_t n);

/*
 * CPU time of a task when it has ended, for who reads a recording while it grows. in: what was added to
 * it, or NULL: no task ran inside it.
 */
struct cost_cpu cost_cpu_of_ended(const struct recording *rec, const struct task *t,
				  const struct cost_inside *in);

/* A task inside `parent` has ended with this CPU time. */
void cost_add_inside(struct cost_inside *in, const struct recording *rec, const struct task *parent,
		     const struct task *child, const struct cost_cpu *cpu);

#endif
