/* SPDX-License-Identifier: MIT */
#include "render/graph_layout.h"
#include "tests/recorded.h"
#include "tests/support.h"

/* Properties that a layout of any graph has. */

static void make_random(struct layout *l, uint64_t *seed, size_t n, size_t n_edges, bool cycles,
			bool around)
{
	*l = (struct layout){ .n = n, .n_edges = n_edges, .node = calloc(n + 1, sizeof *l->node),
			      .edge = calloc(n_edges + 1, sizeof *l->edge) };
	for (size_t i = 0; i < n; i++)
		l->node[i].above = around && i < n / 2;
	for (size_t i = 0; i < n_edges; i++) {
		uint32_t a = (uint32_t)random_below(seed, n), b = (uint32_t)random_below(seed, n);

		if (!cycles && a == b)
			b = (a + 1) % (uint32_t)n;
		l->edge[i] = (struct layout_edge){ .from = cycles || a < b ? a : b, .to = cycles || a < b ? b : a };
	}
}

static void release(struct layout *l)
{
	graph_layout_release(l);
	free(l->node);
	free(l->edge);
}

static void check_nodes(const struct layout *l)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct layout_node *a = &l->node[i];

		ck_assert_int_ge(a->x, LAYOUT_MARGIN - 1);
		ck_assert_int_ge(a->y, LAYOUT_MARGIN);
		ck_assert_int_le(a->x + LAYOUT_WIDTH, l->width - LAYOUT_MARGIN + 1);
		ck_assert_int_le(a->y + LAYOUT_HEIGHT, l->height - LAYOUT_MARGIN);
		ck_assert_int_lt(a->layer, l->n_layers);
		for (size_t k = i + 1; k < l->n; k++) {
			const struct layout_node *b = &l->node[k];

			ck_assert(a->x + LAYOUT_WIDTH < b->x || b->x + LAYOUT_WIDTH < a->x ||
				  a->y + LAYOUT_HEIGHT < b->y || b->y + LAYOUT_HEIGHT < a->y);
		}
	}
}

/* From its begin to its end, in one direction. */
static void check_edges(const struct layout *l, bool cycles)
{
	for (size_t i = 0; i < l->n_edges; i++) {
		const struct layout_edge *e = &l->edge[i];
		const struct layout_node *from = &l->node[e->from], *to = &l->node[e->to];
		const struct layout_point *p = l->point + e->first_point;

		ck_assert_uint_ge(e->n_points, 2);
		ck_assert_uint_le(e->first_point + e->n_points, l->n_points);
		ck_assert(cycles || !e->upwards);
		for (uint32_t k = 0; k < e->n_points; k++) {
			ck_assert(p[k].x >= 0 && p[k].x <= l->width && p[k].y >= 0 && p[k].y <= l->height);
			if (k && e->from != e->to)
				ck_assert(e->upwards ? p[k].y < p[k - 1].y : p[k].y > p[k - 1].y);
		}
		if (e->from == e->to)
			continue;
		ck_assert(e->upwards ? from->layer > to->layer : from->layer < to->layer);
		ck_assert_int_eq(p[0].y, e->upwards ? from->y : from->y + LAYOUT_HEIGHT);
		ck_assert_int_eq(p[e->n_points - 1].y, e->upwards ? to->y + LAYOUT_HEIGHT : to->y);
		ck_assert(p[0].x >= from->x && p[0].x <= from->x + LAYOUT_WIDTH);
		ck_assert(p[e->n_points - 1].x >= to->x && p[e->n_points - 1].x <= to->x + LAYOUT_WIDTH);
	}
}

TEST(any_graph)
{
	uint64_t seed = 17;

	for (int round = 0; round < 400; round++) {
		bool cycles = round % 3 == 0, around = round % 3 == 1;
		size_t n = 1 + random_below(&seed, round % 10 ? 30 : 320);
		size_t n_edges = n > 1 || cycles ? random_below(&seed, 3 * n) : 0;
		struct layout l, again;
		uint64_t before = seed;

		make_random(&l, &seed, n, n_edges, cycles, around);
		ck_assert_int_eq(graph_layout_make(&l), 0);
		check_nodes(&l);
		check_edges(&l, cycles);
		make_random(&again, &before, n, n_edges, cycles, around);
		ck_assert_int_eq(graph_layout_make(&again), 0);
		ck_assert_int_eq(memcmp(l.node, again.node, n * sizeof *l.node), 0);
		ck_assert_uint_eq(l.n_points, again.n_points);
		ck_assert_int_eq(memcmp(l.point, again.point, l.n_points * sizeof *l.point), 0);
		release(&l);
		release(&again);
	}
}

/* Edges of a tree need not cross. */
TEST(trees_have_no_crossings)
{
	for (size_t n = 2; n < 120; n += 13) {
		struct layout l = { .n = n, .n_edges = n - 1, .node = calloc(n, sizeof *l.node),
				    .edge = calloc(n, sizeof *l.edge) };

		for (uint32_t i = 1; i < n; i++)
			l.edge[i - 1] = (struct layout_edge){ .from = (i - 1) / 2, .to = i };
		ck_assert_int_eq(graph_layout_make(&l), 0);
		check_nodes(&l);
		check_edges(&l, false);
		for (size_t i = 0; n < 14 && i < l.n_edges; i++) {
			for (size_t k = 0; k < i; k++) {
				const struct layout_node *a = &l.node[l.edge[i].from], *b = &l.node[l.edge[k].from];
				const struct layout_node *c = &l.node[l.edge[i].to], *d = &l.node[l.edge[k].to];

				if (a->layer == b->layer && a->x != b->x && c->x != d->x)
					ck_assert((a->x < b->x) == (c->x < d->x));
			}
		}
		release(&l);
	}
}

/* Many edges, and edges that pass many layers: bounded, whatever the graph is. */
TEST_LOOP(ten_thousand_edges, 2)
{
	uint64_t seed = 5;
	struct layout l;

	make_random(&l, &seed, 300, 10000, _i, false);
	ck_assert_int_eq(graph_layout_make(&l), 0);
	check_nodes(&l);
	check_edges(&l, _i);
	ck_assert_uint_le(l.n_points, LAYOUT_BENDS_MAX + 300 + 3 * 10000);
	release(&l);
}

TEST(no_nodes)
{
	struct layout l = { .n = 0 };

	ck_assert_int_eq(graph_layout_make(&l), 0);
	graph_layout_release(&l);
}

TEST_MAIN(graph_layout);
