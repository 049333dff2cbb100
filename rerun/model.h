/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RERUN_MODEL_H
#define BUILDBEAT_RERUN_MODEL_H

#include "analyse/chain.h"
#include "analyse/free_cores.h"
#include "rerun/change.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A recorded build as work that can be done again under other conditions: nodes, what each of them waits
 * for, and who may do it. Nodes are
 *	the tasks that ran; one that hosts ends with a node of its own, when all in it has ended
 *	what a host does alone: before its first task with the commands of $(shell) in it, after its last
 *	task, and what the task around hosts does before, between and after them
 *	groups of targets and other joints, which take no time
 * A task waits for the targets that it named, for the line before it in its recipe, for what its host
 * runs before it in any case, and until its host has read its files. A task of a script waits for
 * the one that ended last before it.
 */
enum rerun_kind {
	RERUN_JOINT,		/* takes no time */
	RERUN_SERIAL,		/* its host does it itself, without a worker */
	RERUN_TASK,		/* needs a worker */
	RERUN_HOST,		/* the begin of a task that hosts: it keeps its worker until a joint, its end */
};

struct rerun_node {
	double cpu_us;		/* on a free core, of each of its threads */
	double wait_us;		/* the rest of its time on free cores */
	float host_us;		/* its host works that long to start it, one task after the other */
	float threads;		/* that compute at once */
	uint32_t kb;		/* the most memory of its processes; 0: unknown */
	uint32_t task;		/* NO_INDEX: no task of the recording */
	uint32_t instance;
	uint32_t rank;		/* of tasks: their host prefers the smaller one. Those of an instance have
				   ranks without gaps, from its first_rank on */
	uint32_t host;		/* of the end of one: it; otherwise NO_INDEX */
	uint32_t pool;		/* NO_INDEX: none */
	uint8_t kind;		/* enum rerun_kind */
	bool goes_on;		/* it uses the worker of the node before it: the next line of a recipe */
	bool keeps;		/* and that node keeps it */
};

/* An instance has one worker of its own, that of the task around it, and shares others in its scope. */
struct rerun_instance {
	uint32_t scope;		/* the instance whose workers it shares: the first of them */
	uint32_t first_rank, n_ranks;
	int64_t jobs;		/* of a scope, as recorded */
	bool given;		/* a script, or a build tool inside another one that has workers of its own:
				   -j of the build does not change their number */
	bool passes;		/* make: it goes on behind the target that it started last */
};

struct rerun_model {
	const struct summary *s;
	size_t n;
	struct rerun_node *node;	/* those of an instance together, by `place` */
	uint32_t *first_next;	/* n + 1: what waits for each node, in `next` */
	uint32_t *next;
	uint32_t *n_waits;	/* for how many nodes each one waits */
	uint32_t *place;	/* of each node: of its task in summary.order; others come first */
	uint32_t *of_task;	/* the node in which each task of the recording begins, or NO_INDEX */
	size_t n_instances;
	struct rerun_instance *instance;
	size_t n_pools;
	size_t n_ranks;
	uint32_t *of_rank;	/* the node of each rank */
	uint32_t start, end;	/* nodes: of the whole build */
	double cores, others;	/* as in struct free_cores */
};

/*
 * 0, -ENOMEM, or -ENODATA with err: nothing is known of what its tasks waited for. change may be NULL. All
 * must live longer. Always release.
 */
int rerun_model_make(struct rerun_model *m, const struct summary *s, const struct waits *w,
		      const struct free_cores *f, const struct rerun_change *change, struct error *err);
void rerun_model_release(struct rerun_model *m);

#endif
