/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_GRAPH_H
#define BUILDBEAT_ANALYSE_GRAPH_H

#include "analyse/chain.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The dependencies between the tasks of a build: a task needs those that made what it waited for, and
 * groups (needs.h). Where it is known, it also needs the line before it in its recipe or the task of its
 * recipe (wait_task.before). An edge leads from the task that is needed to the one that needs it, which always
 * comes later in summary.order. So there are no cycles; those that a build tool reported are in
 * cycles.h.
 */
enum graph_edge_kind { GRAPH_TARGET, GRAPH_LINE, GRAPH_HOST, GRAPH_WORKER, GRAPH_MORE, GRAPH_EDGE_KINDS };

extern const char *const graph_edge_word[GRAPH_EDGE_KINDS];	/* "target", "line" ... */

struct graph_edge {
	uint32_t from, to;
	enum graph_edge_kind kind;
	bool path;		/* the end of the build waited for it */
};

struct graph {
	const struct summary *s;
	const struct chain *c;
	size_t n;		/* tasks */
	size_t n_nodes;		/* and groups, as needs_node() */
	size_t n_edges;
	uint32_t *needs, *needed_by;	/* the ends of the edges of each node, from first_*[node] on */
	uint32_t *first_needs, *first_needed_by;	/* n_nodes + 1 */
	uint8_t *needs_kind;	/* enum graph_edge_kind of each of `needs` */
	bool *on_path;		/* of each task */
	uint32_t *list, *seen, *round;	/* private: for graph_tasks() */
};

/* 0 or -ENOMEM. s and c must live longer. Always release. */
int graph_make(struct graph *g, const struct summary *s, const struct chain *c);
void graph_release(struct graph *g);

/* The tasks that a task needs, or with `down` those that need it, directly or through groups, each once.
 * The list is valid until the next call. */
size_t graph_tasks(const struct graph *g, uint32_t task, bool down, const uint32_t **list);

#define GRAPH_NODES_MAX 300
#define GRAPH_STEPS_MAX 50

/* A task, or many that are not shown. */
struct graph_node {
	uint32_t task;		/* NO_INDEX: n_more tasks beside the node `of` */
	int distance;		/* steps from the middle: below 0 what it needs, above 0 what needs it */
	size_t n_more;
	uint32_t of;		/* index of a node */
};

/* The graph around a task, where tasks that others wait for come before these. */
struct graph_part {
	size_t n;
	struct graph_node *node;	/* the task in the middle is the first */
	size_t n_edges;
	struct graph_edge *edge;	/* between nodes; each once */
	size_t n_hidden;		/* tasks within these steps that are not shown */
};

/* At most `most` tasks (1 to GRAPH_NODES_MAX) within `up` steps of what it needs and `down` steps of
 * what needs it. Near ones come first, then those on the path, then those that took longest. 0 or
 * -ENOMEM. Always release. */
int graph_around(struct graph_part *p, const struct graph *g, uint32_t task, unsigned up,
		 unsigned down, size_t most);
void graph_part_release(struct graph_part *p);

/* The number of the strongly connected component of each of n nodes, from the ends of edges: equal
 * numbers where each node can be reached from the other. 0 or -ENOMEM. */
int graph_components(uint32_t *component, size_t n, const uint32_t *from, const uint32_t *to,
		     size_t n_edges);

#endif
