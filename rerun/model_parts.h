/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RERUN_MODEL_PARTS_H
#define BUILDBEAT_RERUN_MODEL_PARTS_H

#include "base/sort.h"
#include "rerun/model.h"

/* How a model is made: its tasks (model.c) and the hosts around them (model_hosts.c). Errors are kept in the
 * builder. Private to these two. */

struct model_edge {
	uint32_t from, to;
};

struct model_builder {
	const struct summary *s;
	const struct recording *rec;
	const struct waits *waits;
	const struct free_cores *free;
	struct rerun_model *m;
	struct rerun_effect *effect;	/* of each task, or NULL */
	uint32_t *place;	/* of each task in the order */
	uint32_t *end;		/* the node with which a task ends, NO_INDEX: it never ran */
	int64_t *end_us;
	bool *awaited;		/* something in its instance waits for it */
	bool *linked;		/* all that it waits for is known */
	uint32_t *group;	/* the node of each group, once something waits for it */
	uint32_t *first_task, *tasks;	/* of each instance, by their start */
	uint32_t *at_task;	/* of each instance: those before it are linked */
	uint32_t *of_host;	/* of each task: the first instance in it, as host_all() sorts them */
	/* Nodes of each instance: its host has read its files; all its tasks have ended; it has closed; its
	 * last command of $(shell) */
	uint32_t *ready, *done, *closed, *last_shell;
	int64_t *close_us, *last_us;	/* when it closed, and its last task before that ended */
	double factor;		/* of what is done by hosts in the task that is looked at */
	size_t nodes_cap, n_edges, edges_cap;
	struct model_edge *edge;
	int error;
};

static inline const struct task *model_task(const struct model_builder *b, uint32_t i)
{
	return &b->rec->task[i];
}

uint32_t model_add_node(struct model_builder *b, enum rerun_kind kind, uint32_t instance);
void model_add_edge(struct model_builder *b, uint32_t from, uint32_t to);

/* What a host does alone between two times, after a node: `share` of the time it computes. Returns the node,
 * or the one before if there is no time between. */
uint32_t model_add_serial(struct model_builder *b, uint32_t after, int64_t from_us, int64_t until_us,
			  uint32_t instance, double share);

/* A task that never began a build of its own, or did so in no time, is work like others. */
bool model_hosts(const struct model_builder *b, uint32_t i);

/* When each instance closed, and its last task before that. Then, before tasks are linked, what hosts do
 * themselves; and after that, what the end of an instance waits for. */
void model_find_close(struct model_builder *b);
void model_host_all(struct model_builder *b);
void model_close_instances(struct model_builder *b);

#endif
