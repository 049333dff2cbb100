/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RERUN_SIMULATE_H
#define BUILDBEAT_RERUN_SIMULATE_H

#include "rerun/model.h"

/*
 * Does the work of a model again. A task that is ready starts as soon as its host has a worker for it. All
 * that compute share the cores evenly, as a fair scheduler does: with more of them than cores, each gets
 * the same part of a core. What a task waits for besides a core takes as long as it did.
 */
struct rerun_conditions {
	int64_t jobs;		/* of the build; 0: as recorded */
	double cores;		/* for the build, without what others use; 0: any number */
};

struct rerun_run {
	int64_t wall_us;
	double cpu_us;		/* of all nodes */
	int64_t running_most;	/* tasks at once, without those that host */
	uint64_t kb_most;	/* memory of all that ran at once, if each had its most all the time */
	double kb_most_us;	/* when first */
	/* Of each node, if they were asked for; -1: it did not start. */
	double *start_us, *end_us;
	uint32_t *because;	/* the node whose end it waited for last, or NO_INDEX */
	bool *for_worker;	/* it was ready earlier, but there was no worker */
};

/* 0 or -ENOMEM. times: fill the arrays. Always release. */
int rerun_simulate(struct rerun_run *r, const struct rerun_model *m, const struct rerun_conditions *c,
		    bool times);
void rerun_run_release(struct rerun_run *r);

#endif
