/* SPDX-License-Identifier: MIT */
#include "render/graph_layout.h"

#include "base/array.h"
#include "base/minmax.h"
#include "base/sort.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SWEEPS 12
#define ALIGNMENTS 8
#define BEND_WIDTH 12		/* of the place at which an edge passes a layer */
#define NONE UINT32_MAX

/* A node, or the place at which an edge passes a layer: both are called cells. */
struct cell {
	int32_t layer, width;
	uint32_t order;		/* in its layer */
	double x;		/* of its middle */
	uint32_t first_up, n_up, first_down, n_down;	/* cells in the layers beside, in `link` */
};

struct work {
	struct layout *l;
	uint32_t *first, *next;	/* edges of each node: their numbers, downwards */
	uint32_t *sorted;	/* nodes, from the top: each one before those that it leads to */
	size_t n_cells, n_links;
	struct cell *cell;	/* the nodes first */
	uint32_t *upper, *lower;	/* the cells of each link */
	uint32_t *link;		/* of the cells: up and down */
	uint32_t *row, *first_of_row;	/* cells of each layer in order */
	uint32_t *best;
	uint32_t *cell_of_edge;	/* the first bend of each edge, NONE */
	uint32_t *n_bends;
};

static uint32_t top_of(const struct layout_edge *e)
{
	return e->upwards ? e->to : e->from;
}

static uint32_t bottom_of(const struct layout_edge *e)
{
	return e->upwards ? e->from : e->to;
}

/* Cycles: edges that lead back to a node on the way get the mark `upwards`. */

static int list_edges(struct work *w)
{
	struct layout *l = w->l;

	memset(w->first, 0, (l->n + 2) * sizeof *w->first);
	for (size_t i = 0; i < l->n_edges; i++)
		w->first[top_of(&l->edge[i]) + 1]++;
	for (size_t i = 0; i < l->n; i++)
		w->first[i + 1] += w->first[i];
	for (size_t i = l->n_edges; i-- > 0;)
		w->next[--w->first[top_of(&l->edge[i]) + 1]] = (uint32_t)i;
	memmove(w->first, w->first + 1, l->n * sizeof *w->first);
	w->first[l->n] = (uint32_t)l->n_edges;
	return 0;
}

/* Depth first, from each node in turn. state: 0 new, 1 on the way, 2 done. */
static int break_cycles(struct work *w)
{
	struct layout *l = w->l;
	uint8_t *state = array_new_zero(l->n + 1, 1);
	uint32_t *path = array_new(l->n + 1, sizeof *path), *at = array_new(l->n + 1, sizeof *at);
	size_t done = l->n;
	int r = state && path && at ? 0 : -ENOMEM;

	for (uint32_t root = 0; !r && root < l->n; root++) {
		size_t n = 0;

		if (state[root])
			continue;
		path[n++] = root;
		state[root] = 1;
		at[root] = w->first[root];
		while (n) {
			uint32_t node = path[n - 1], other;

			if (at[node] == w->first[node + 1]) {
				state[node] = 2;
				w->sorted[--done] = node;
				n--;
				continue;
			}
			other = l->edge[w->next[at[node]]].to;
			if (state[other] == 1)
				l->edge[w->next[at[node]]].upwards = true;
			at[node]++;
			if (!state[other]) {
				state[other] = 1;
				at[other] = w->first[other];
				path[n++] = other;
			}
		}
	}
	free_all(state, path, at);
	return r;
}

/* Layers */

/* The first layer from `layer` on with room, one step at a time in this direction. */
static int32_t with_room(const uint32_t *count, int32_t layer, int32_t step, int32_t middle)
{
	while (count[middle + layer] >= LAYOUT_PER_LAYER)
		layer += step;
	return layer;
}

/*
 * The longest path decides, and the next layer if that one is full. Those with `above` go up from
 * layer -1, in the order from the last one on, the others down from 0.
 */
static int place_layers(struct work *w)
{
	struct layout *l = w->l;
	int32_t middle = (int32_t)l->n + 1, least = INT32_MAX;
	uint32_t *count = calloc(2 * l->n + 4, sizeof *count);
	int32_t *limit = array_new_zero(l->n + 1, sizeof *limit);

	if (!count || !limit) {
		free_all(count, limit);
		return -ENOMEM;
	}
	for (size_t i = 0; i < l->n; i++)
		limit[i] = l->node[i].above ? -1 : 0;
	for (size_t i = l->n; i-- > 0;) {
		uint32_t node = w->sorted[i];

		if (!l->node[node].above)
			continue;
		for (uint32_t k = w->first[node]; k < w->first[node + 1]; k++) {
			const struct layout_edge *e = &l->edge[w->next[k]];
			const struct layout_node *below = &l->node[bottom_of(e)];

			if (bottom_of(e) != node && below->above && below->layer - 1 < limit[node])
				limit[node] = below->layer - 1;
		}
		l->node[node].layer = with_room(count, limit[node], -1, middle);
		count[middle + l->node[node].layer]++;
	}
	for (size_t i = 0; i < l->n; i++) {
		uint32_t node = w->sorted[i];

		if (!l->node[node].above) {
			l->node[node].layer = with_room(count, limit[node], 1, middle);
			count[middle + l->node[node].layer]++;
		}
		for (uint32_t k = w->first[node]; k < w->first[node + 1]; k++) {
			uint32_t other = bottom_of(&l->edge[w->next[k]]);

			if (other != node && !l->node[other].above && l->node[node].layer >= limit[other])
				limit[other] = l->node[node].layer + 1;
		}
		least = MIN(l->node[node].layer, least);
	}
	l->n_layers = 0;
	for (size_t i = 0; i < l->n; i++) {
		l->node[i].layer -= least;
		l->n_layers = l->node[i].layer >= l->n_layers ? l->node[i].layer + 1 : l->n_layers;
	}
	free_all(count, limit);
	return 0;
}

/* Cells */

static void add_link(struct work *w, uint32_t upper, uint32_t lower)
{
	w->upper[w->n_links] = upper;
	w->lower[w->n_links++] = lower;
	w->cell[upper].n_down++;
	w->cell[lower].n_up++;
}

static void add_cells(struct work *w)
{
	struct layout *l = w->l;

	for (size_t i = 0; i < l->n; i++)
		w->cell[i] = (struct cell){ .layer = l->node[i].layer, .width = LAYOUT_WIDTH };
	w->n_cells = l->n;
	for (size_t i = 0; i < l->n_edges; i++) {
		const struct layout_edge *e = &l->edge[i];
		uint32_t last = top_of(e);

		w->cell_of_edge[i] = w->n_bends[i] ? (uint32_t)w->n_cells : NONE;
		for (uint32_t k = 0; k < w->n_bends[i]; k++) {
			w->cell[w->n_cells] = (struct cell){ .layer = l->node[top_of(e)].layer + 1 + (int32_t)k,
							     .width = BEND_WIDTH };
			add_link(w, last, (uint32_t)w->n_cells);
			last = (uint32_t)w->n_cells++;
		}
		if (top_of(e) != bottom_of(e) && w->cell[last].layer + 1 == l->node[bottom_of(e)].layer)
			add_link(w, last, bottom_of(e));
	}
}

static int make_cells(struct work *w)
{
	struct layout *l = w->l;
	size_t bends = 0, links;

	for (size_t i = 0; i < l->n_edges; i++) {
		const struct layout_edge *e = &l->edge[i];
		int32_t passed = l->node[bottom_of(e)].layer - l->node[top_of(e)].layer - 1;

		if (passed > 0 && bends + (size_t)passed <= LAYOUT_BENDS_MAX)
			bends += w->n_bends[i] = (uint32_t)passed;
	}
	links = bends + l->n_edges;
	w->cell = array_new_zero(l->n + bends + 1, sizeof *w->cell);
	w->upper = array_new(links + 1, sizeof *w->upper);
	w->lower = array_new(links + 1, sizeof *w->lower);
	w->link = array_new(2 * links + 1, sizeof *w->link);
	w->row = array_new(l->n + bends + 1, sizeof *w->row);
	w->best = array_new(l->n + bends + 1, sizeof *w->best);
	w->first_of_row = calloc((size_t)l->n_layers + 2, sizeof *w->first_of_row);
	if (!w->cell || !w->upper || !w->lower || !w->link || !w->row || !w->best || !w->first_of_row)
		return -ENOMEM;
	add_cells(w);
	return 0;
}

static void link_cells(struct work *w)
{
	uint32_t at = 0;

	for (size_t i = 0; i < w->n_cells; i++) {
		struct cell *c = &w->cell[i];

		c->first_up = at;
		c->first_down = at += c->n_up;
		at += c->n_down;
		c->n_up = c->n_down = 0;
	}
	for (size_t i = 0; i < w->n_links; i++) {
		struct cell *up = &w->cell[w->upper[i]], *down = &w->cell[w->lower[i]];

		w->link[up->first_down + up->n_down++] = w->lower[i];
		w->link[down->first_up + down->n_up++] = w->upper[i];
	}
}

/* Order in the layers */

static void number_row(struct work *w, int32_t layer)
{
	for (uint32_t i = w->first_of_row[layer]; i < w->first_of_row[layer + 1]; i++)
		w->cell[w->row[i]].order = i - w->first_of_row[layer];
}

static void fill_rows(struct work *w)
{
	uint32_t *first = w->first_of_row;

	for (size_t i = 0; i < w->n_cells; i++)
		first[w->cell[i].layer + 1]++;
	for (int32_t k = 0; k < w->l->n_layers; k++)
		first[k + 1] += first[k];
	for (size_t i = w->n_cells; i-- > 0;)
		w->row[--first[w->cell[i].layer + 1]] = (uint32_t)i;
	memmove(first, first + 1, (size_t)w->l->n_layers * sizeof *first);
	first[w->l->n_layers] = (uint32_t)w->n_cells;
	for (int32_t k = 0; k < w->l->n_layers; k++)
		number_row(w, k);
}

static int compare_orders(const void *a, const void *b)
{
	return array_order(*(const uint32_t *)a, *(const uint32_t *)b);
}

/* Of its neighbours above or below; its own place if it has none. order: memory for them. */
static double median(const struct work *w, const struct cell *c, bool up, uint32_t *order)
{
	uint32_t n = up ? c->n_up : c->n_down, first = up ? c->first_up : c->first_down;

	if (!n)
		return c->order;
	for (uint32_t i = 0; i < n; i++)
		order[i] = w->cell[w->link[first + i]].order;
	qsort(order, n, sizeof *order, compare_orders);
	return n % 2 ? order[n / 2] : ((double)order[n / 2 - 1] + order[n / 2]) / 2;
}

static int sort_row(struct work *w, int32_t layer, bool up, struct keyed *key, uint32_t *order)
{
	uint32_t first = w->first_of_row[layer], n = w->first_of_row[layer + 1] - first;
	int r;

	for (uint32_t i = 0; i < n; i++)
		key[i] = (struct keyed){ (uint64_t)(2 * median(w, &w->cell[w->row[first + i]], up, order)),
					 w->row[first + i] };
	r = sort_keyed(key, n);
	for (uint32_t i = 0; !r && i < n; i++)
		w->row[first + i] = (uint32_t)key[i].value;
	number_row(w, layer);
	return r;
}

/* Crossings between a layer and the next: inversions, counted with a binary indexed tree. */
static uint64_t crossings_below(const struct work *w, int32_t layer, uint32_t *tree, uint32_t *order)
{
	uint32_t n = w->first_of_row[layer + 2] - w->first_of_row[layer + 1];
	uint64_t count = 0, seen = 0;

	memset(tree, 0, (n + 1) * sizeof *tree);
	for (uint32_t i = w->first_of_row[layer]; i < w->first_of_row[layer + 1]; i++) {
		const struct cell *c = &w->cell[w->row[i]];

		for (uint32_t k = 0; k < c->n_down; k++)
			order[k] = w->cell[w->link[c->first_down + k]].order;
		for (uint32_t k = 0; k < c->n_down; k++) {
			uint64_t before = 0;

			for (uint32_t at = order[k] + 1; at; at -= at & -at)
				before += tree[at];
			count += seen - before;
		}
		for (uint32_t k = 0; k < c->n_down; k++) {
			for (uint32_t at = order[k] + 1; at <= n; at += at & -at)
				tree[at]++;
			seen++;
		}
	}
	return count;
}

static uint64_t crossings(const struct work *w, uint32_t *tree, uint32_t *order)
{
	uint64_t count = 0;

	for (int32_t k = 0; k + 1 < w->l->n_layers; k++)
		count += crossings_below(w, k, tree, order);
	return count;
}

static int order_rows(struct work *w)
{
	struct keyed *key = array_new(w->n_cells + 1, sizeof *key);
	uint32_t *order = array_new(w->n_links + 1, sizeof *order);
	uint32_t *tree = array_new(w->n_cells + 2, sizeof *tree);
	uint64_t least = UINT64_MAX;
	int r = key && order && tree ? 0 : -ENOMEM;

	for (int sweep = 0; !r && sweep <= SWEEPS && least; sweep++) {
		uint64_t now = crossings(w, tree, order);

		if (now < least) {
			least = now;
			memcpy(w->best, w->row, w->n_cells * sizeof *w->best);
		}
		for (int32_t k = 1; !r && k < w->l->n_layers; k++)
			r = sort_row(w, sweep % 2 ? w->l->n_layers - 1 - k : k, sweep % 2 == 0, key, order);
	}
	if (!r) {
		memcpy(w->row, w->best, w->n_cells * sizeof *w->row);
		for (int32_t k = 0; k < w->l->n_layers; k++)
			number_row(w, k);
	}
	free_all(key, order, tree);
	return r;
}

/* Places in the layers */

/* The least distance between the middles of two neighbours. */
static double apart(const struct cell *a, const struct cell *b)
{
	return (a->width + b->width) / 2.0 + LAYOUT_GAP_X;
}

/* Cells that touch one another, and where they would be best together. */
struct block {
	double sum;
	uint32_t first, n;
};

/*
 * As near as possible to the mean of the neighbours: without overlaps that is the regression of
 * rising numbers, found by joining neighbours that are in the wrong order.
 */
static void align_row(struct work *w, int32_t layer, bool up, bool both, struct block *block)
{
	uint32_t first = w->first_of_row[layer], n = w->first_of_row[layer + 1] - first, blocks = 0;
	double offset = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct cell *c = &w->cell[w->row[first + i]];
		double sum = 0, wanted;
		uint32_t count = 0;

		offset += i ? apart(&w->cell[w->row[first + i - 1]], c) : 0;
		for (uint32_t k = 0; (up || both) && k < c->n_up; k++, count++)
			sum += w->cell[w->link[c->first_up + k]].x;
		for (uint32_t k = 0; (!up || both) && k < c->n_down; k++, count++)
			sum += w->cell[w->link[c->first_down + k]].x;
		wanted = (count ? sum / count : c->x) - offset;
		block[blocks++] = (struct block){ wanted, i, 1 };
		while (blocks > 1 && block[blocks - 2].sum / block[blocks - 2].n >
				     block[blocks - 1].sum / block[blocks - 1].n) {
			block[blocks - 2].sum += block[blocks - 1].sum;
			block[blocks - 2].n += block[blocks - 1].n;
			blocks--;
		}
	}
	offset = 0;
	for (uint32_t b = 0, i = 0; b < blocks; b++) {
		double at = block[b].sum / block[b].n;

		for (uint32_t k = 0; k < block[b].n; k++, i++) {
			struct cell *c = &w->cell[w->row[first + i]];

			offset += i ? apart(&w->cell[w->row[first + i - 1]], c) : 0;
			c->x = at + offset;
		}
	}
}

static int align(struct work *w)
{
	struct block *block = array_new(w->n_cells + 1, sizeof *block);
	int32_t n = w->l->n_layers;

	if (!block)
		return -ENOMEM;
	for (int32_t k = 0; k < n; k++) {
		double x = 0;

		for (uint32_t i = w->first_of_row[k]; i < w->first_of_row[k + 1]; i++) {
			struct cell *c = &w->cell[w->row[i]];

			x += i > w->first_of_row[k] ? apart(&w->cell[w->row[i - 1]], c) : 0;
			c->x = x;
		}
	}
	for (int turn = 0; turn < ALIGNMENTS; turn++) {
		for (int32_t k = 0; k < n; k++)
			align_row(w, turn % 2 ? n - 1 - k : k, turn % 2 == 0, turn >= 2, block);
	}
	free(block);
	return 0;
}

/* Results */

static int32_t y_of(int32_t layer)
{
	return LAYOUT_MARGIN + layer * (LAYOUT_HEIGHT + LAYOUT_GAP_Y);
}

static void place_nodes(struct work *w)
{
	struct layout *l = w->l;
	double least = 0, most = 0;

	for (size_t i = 0; i < w->n_cells; i++) {
		const struct cell *c = &w->cell[i];

		least = !i || c->x - c->width / 2.0 < least ? c->x - c->width / 2.0 : least;
		most = !i || c->x + c->width / 2.0 > most ? c->x + c->width / 2.0 : most;
	}
	for (size_t i = 0; i < w->n_cells; i++)
		w->cell[i].x += LAYOUT_MARGIN - least;
	/* room at the side for an edge from a node to itself, and one that leads upwards */
	l->width = (int32_t)(most - least) + 2 * LAYOUT_MARGIN + LAYOUT_GAP_X + 1;
	l->height = y_of(l->n_layers) - LAYOUT_GAP_Y + LAYOUT_MARGIN;
	for (size_t i = 0; i < l->n; i++) {
		l->node[i].x = (int32_t)(w->cell[i].x - LAYOUT_WIDTH / 2.0);
		l->node[i].y = y_of(l->node[i].layer);
	}
}

static void add_point(struct layout *l, double x, int32_t y)
{
	l->point[l->n_points++] = (struct layout_point){ (int32_t)x, y };
}

/* At its right side. */
static void add_loop(struct layout *l, const struct layout_node *n)
{
	int32_t x = n->x + LAYOUT_WIDTH, y = n->y + LAYOUT_HEIGHT / 2;

	add_point(l, x, y + LAYOUT_HEIGHT / 4);
	add_point(l, x + LAYOUT_GAP_X - 4, y);
	add_point(l, x, y - LAYOUT_HEIGHT / 4);
}

static int place_edges(struct work *w)
{
	struct layout *l = w->l;

	l->point = array_new(w->n_cells + 3 * l->n_edges + 1, sizeof *l->point);
	if (!l->point)
		return -ENOMEM;
	for (size_t i = 0; i < l->n_edges; i++) {
		struct layout_edge *e = &l->edge[i];
		const struct cell *top = &w->cell[top_of(e)], *bottom = &w->cell[bottom_of(e)];

		e->first_point = (uint32_t)l->n_points;
		if (e->from == e->to) {
			add_loop(l, &l->node[e->from]);
		} else {
			add_point(l, top->x, y_of(top->layer) + LAYOUT_HEIGHT);
			for (uint32_t k = 0; k < w->n_bends[i]; k++) {
				const struct cell *c = &w->cell[w->cell_of_edge[i] + k];

				add_point(l, c->x, y_of(c->layer) + LAYOUT_HEIGHT / 2);
			}
			add_point(l, bottom->x, y_of(bottom->layer));
		}
		e->n_points = (uint32_t)l->n_points - e->first_point;
		for (uint32_t a = e->first_point, b = (uint32_t)l->n_points; e->upwards && a + 1 < b; a++) {
			struct layout_point p = l->point[a];

			l->point[a] = l->point[--b];
			l->point[b] = p;
		}
	}
	return 0;
}

static int allocate(struct work *w)
{
	struct layout *l = w->l;

	w->first = calloc(l->n + 2, sizeof *w->first);
	w->next = array_new(l->n_edges + 1, sizeof *w->next);
	w->sorted = array_new(l->n + 1, sizeof *w->sorted);
	w->cell_of_edge = array_new(l->n_edges + 1, sizeof *w->cell_of_edge);
	w->n_bends = array_new_zero(l->n_edges + 1, sizeof *w->n_bends);
	return w->first && w->next && w->sorted && w->cell_of_edge && w->n_bends ? 0 : -ENOMEM;
}

int graph_layout_make(struct layout *l)
{
	struct work w = { .l = l };
	int r = allocate(&w);

	l->n_points = 0;
	l->point = NULL;
	for (size_t i = 0; i < l->n_edges; i++)
		l->edge[i].upwards = false;
	r = r ? r : list_edges(&w);
	r = r ? r : break_cycles(&w);
	r = r ? r : list_edges(&w);
	r = r ? r : place_layers(&w);
	r = r ? r : make_cells(&w);
	if (!r) {
		link_cells(&w);
		fill_rows(&w);
		r = order_rows(&w);
	}
	r = r ? r : align(&w);
	if (!r) {
		place_nodes(&w);
		r = place_edges(&w);
	}
	free_all(w.first, w.next, w.sorted, w.cell, w.upper, w.lower, w.link, w.row,
		 w.first_of_row, w.best, w.cell_of_edge, w.n_bends);
	return r;
}

void graph_layout_release(struct layout *l)
{
	free(l->point);
	l->point = NULL;
	l->n_points = 0;
}
