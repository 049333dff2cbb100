/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RENDER_GRAPH_LAYOUT_H
#define BUILDBEAT_RENDER_GRAPH_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Where the nodes and edges of a graph are drawn: nodes in layers below one another, as few crossings
 * as medians find, and edges that lead downwards. In a cycle, edges have to lead upwards; these are
 * marked. The same graph has the same layout on every machine. Nothing here draws.
 */
struct layout_node {
	bool above;		/* as near as possible to what follows it; otherwise to what is before
				   it. No edge leads from another node to one with `above` */
	int32_t layer;		/* results: from 0 */
	int32_t x, y;		/* of its corner */
};

struct layout_point {
	int32_t x, y;
};

struct layout_edge {
	uint32_t from, to;	/* nodes */
	bool upwards;		/* results: it closes a cycle. An edge to its own node does too */
	uint32_t first_point, n_points;	/* in layout.point: from its begin to its end; 2 at least */
};

#define LAYOUT_PER_LAYER 8	/* nodes in one layer, if there are many */
#define LAYOUT_WIDTH 148	/* of a node */
#define LAYOUT_HEIGHT 40
#define LAYOUT_GAP_X 20
#define LAYOUT_GAP_Y 46
#define LAYOUT_MARGIN 12

/* Edges that pass more layers than this all together go straight through some. */
#define LAYOUT_BENDS_MAX 20000

struct layout {
	size_t n;
	struct layout_node *node;	/* of the caller */
	size_t n_edges;
	struct layout_edge *edge;	/* of the caller */
	size_t n_points;
	struct layout_point *point;
	int32_t n_layers, width, height;
};

/* Of the nodes and edges in l, which the caller has set. 0 or -ENOMEM. Always release. */
int graph_layout_make(struct layout *l);
void graph_layout_release(struct layout *l);	/* its points */

#endif
