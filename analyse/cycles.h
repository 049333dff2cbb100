/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_CYCLES_H
#define BUILDBEAT_ANALYSE_CYCLES_H

#include "analyse/graph.h"
#include "base/error.h"
#include "base/name_table.h"

/*
 * Cycles of dependencies that a build tool reported in its output:
 *	make: Circular a <- b dependency dropped.		a needs b
 *	ninja: error: dependency cycle: a -> b -> a		a needs b, b needs a
 *	Dependency loop #1 found:				of BitBake; each task needs the one
 *	  Task NAME (dependent Tasks ...)			before, the first one the last
 * make drops the dependency and goes on. The other dependencies of its cycle were recorded, unless
 * one of its targets has no recipe.
 */
struct cycles_node {
	const char *name;
	uint32_t task;		/* the first one of the target, NO_INDEX: it has none */
	uint32_t cycle;		/* index */
};

enum cycles_kind {
	CYCLES_RECORDED,
	CYCLES_REPORTED,	/* in the output */
	CYCLES_ASSUMED,		/* this must be the rest of a cycle, which was not recorded */
};

struct cycles_edge {
	uint32_t from, to;	/* the second one needs the first one; indices of nodes */
	enum cycles_kind kind;
};

struct cycles_item {
	uint32_t first_node, n_nodes, first_edge, n_edges;
	size_t n_tasks;
	int64_t wall_us;	/* of its tasks */
	bool whole;		/* false: it has an assumed edge */
};

struct cycles {
	struct arena *memory;
	size_t n_reported;	/* dependencies that the output names */
	size_t n;		/* the largest first */
	struct cycles_item *cycle;
	struct cycles_node *node;
	struct cycles_edge *edge;
	bool has_output;
	struct cycles_lines *lines;	/* private */
};

#define CYCLES_REPORTED_MAX 500	/* different dependencies; the others are not looked at */

/* Of the recording in the directory path, whose output codec (may be NULL) unpacks. 0 or a negative
 * errno with err. Always release. */
int cycles_read(struct cycles *c, const struct graph *g, const char *path,
		const struct recording_codec *codec, struct error *err);
void cycles_release(struct cycles *c);

#endif
