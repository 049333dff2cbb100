/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_INNER_H
#define BUILDBEAT_ANALYSE_INNER_H

#include "analyse/process_tree.h"

#include <stddef.h>
#include <stdint.h>

/*
 * What ran inside a task, from its processes: a script that is one task for the build tool may run
 * compilers side by side, or one after another.
 *
 * A process runs while none of its children lives. Processes that waited then for something else than a
 * processor do not count: CPU time and run-queue delay of one that counts fill half of these times; if its delay
 * is not known, CPU time fills an eighth.
 */
struct inner_program {
	struct slice name;	/* in the process tree; "?": not known */
	size_t n;		/* processes */
	int64_t cpu_us;
	int64_t alone_us;	/* one of them ran, and no other process of the task */
};

struct inner {
	size_t n;		/* processes whose CPU time is known */
	uint32_t most;		/* that ran at once */
	int64_t busy_us;	/* some process ran */
	int64_t running_us;	/* the same, summed over the processes */
	int64_t alone_us;	/* exactly one ran */
	size_t n_programs;
	struct inner_program *program;	/* the most CPU time first */
	size_t alone;		/* the program with the most time alone; n_programs: none */
};

#define INNER_INIT { 0 }

/* The processes of this task alone. The tree must live longer. 0 or -ENOMEM. Always release. */
int inner_make(struct inner *in, const struct process_tree *t, uint32_t task);
void inner_release(struct inner *in);

/* How many processes ran at once on average, while any did; 0: none ran. */
double inner_mean(const struct inner *in);

#endif
