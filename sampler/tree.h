/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_SAMPLER_TREE_H
#define BUILDBEAT_SAMPLER_TREE_H

#include "sampler/parse.h"
#include "sampler/root.h"
#include "sampler/running.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The processes of the running tasks and what they use. Each process belongs to the innermost task
 * above it.
 */

#define PROCESSES_MAX 8192

struct process {
	int32_t pid;
	size_t slot;		/* of its task, or NO_SLOT */
	struct pid_stat stat;
};

struct tree_sum {
	uint64_t rss_pages;
	uint64_t cpu_ticks;
	uint64_t read_bytes, written_bytes;
	uint64_t pss_kb;
	uint64_t delay_ns;	/* run-queue delay since the sample before */
	size_t processes;
	bool has_pss;
};

/* The run-queue delay of a process when it was read. */
struct tree_delay {
	int32_t pid;		/* 0: free */
	uint32_t round;		/* of the sample that saw the process last */
	uint64_t start_ticks;
	uint64_t cpu_ticks;
	uint64_t ns;		/* of its living threads */
};

struct tree {
	int proc_fd;		/* of the caller */
	int list_fd;		/* of the processes, for scans; -1: not opened yet */
	uint64_t page_kb;
	bool scans;		/* the kernel does not list children */
	bool blind;		/* the /proc is that of another PID namespace: read nothing */
	bool counts_delay;	/* the kernel counts run-queue delay, and it can be read */
	struct process *process;
	size_t n;
	int32_t *pid_key;	/* a hash table: pid -> slot, of the tasks' own processes */
	size_t *pid_slot;
	struct root_text text;	/* of one file */
	struct root_text names;	/* of directories, of children */
	struct tree_sum sum[RUNNING_MAX];
	uint32_t round;		/* counts samples with processes */
	struct tree_delay *delay;	/* a hash table of the processes that were seen lately */
	unsigned delay_reads;	/* how many threads may still be read at this sample */
	size_t first_pss;	/* the next one to measure */
	int64_t ns_per_mib;	/* the cost of measuring PSS, as measured */
};

int tree_init(struct tree *t, int proc_fd);
void tree_release(struct tree *t);

/*
 * Find the processes of all tasks and add their values up in sum[slot]. If the task's own process
 * has ended, the task loses its pid.
 */
void tree_read(struct tree *t, struct running *r);

/*
 * Read PSS for tasks with several processes, taking turns: as many as fit into budget_ns. has_pss
 * shows which have it.
 */
void tree_read_pss(struct tree *t, const struct running *r, int64_t budget_ns);

#endif
