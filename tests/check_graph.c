/* SPDX-License-Identifier: MIT */
#include "analyse/graph.h"
#include "analyse/cycles.h"
#include "recording/output_log.h"
#include "tests/recorded.h"
#include "tests/support.h"

#define NODES 40

/* Which nodes can be reached, worked out slowly. */
static void reach(bool reached[NODES][NODES], size_t n, const uint32_t *from, const uint32_t *to,
		  size_t n_edges)
{
	memset(reached, 0, NODES * sizeof *reached);
	for (size_t i = 0; i < n; i++)
		reached[i][i] = true;
	for (size_t i = 0; i < n_edges; i++)
		reached[from[i]][to[i]] = true;
	for (size_t k = 0; k < n; k++) {
		for (size_t i = 0; i < n; i++) {
			for (size_t j = 0; j < n; j++)
				reached[i][j] |= reached[i][k] && reached[k][j];
		}
	}
}

TEST(components)
{
	uint64_t seed = 3;

	for (int round = 0; round < 500; round++) {
		uint32_t from[80], to[80], component[NODES];
		size_t n = 1 + random_below(&seed, NODES), n_edges = random_below(&seed, 80);
		bool reached[NODES][NODES];

		for (size_t i = 0; i < n_edges; i++) {
			from[i] = (uint32_t)random_below(&seed, n);
			to[i] = (uint32_t)random_below(&seed, n);
		}
		ck_assert_int_eq(graph_components(component, n, from, to, n_edges), 0);
		reach(reached, n, from, to, n_edges);
		for (size_t i = 0; i < n; i++) {
			for (size_t k = 0; k < n; k++)
				ck_assert_int_eq(component[i] == component[k], reached[i][k] && reached[k][i]);
		}
	}
}

TEST(long_chain)
{
	uint32_t n = 1000000, *from = malloc(n * sizeof *from), *to = malloc(n * sizeof *to);
	uint32_t *component = malloc(n * sizeof *component);

	for (uint32_t i = 0; i < n; i++) {
		from[i] = i;
		to[i] = (i + 1) % n;
	}
	ck_assert_int_eq(graph_components(component, n, from, to, n - 1), 0);
	ck_assert_uint_ne(component[0], component[n - 1]);
	ck_assert_int_eq(graph_components(component, n, from, to, n), 0);
	ck_assert_uint_eq(component[0], component[n / 2]);
	free(from);
	free(to);
	free(component);
}

struct made {
	struct recorded r;
	struct chain chain;
	struct graph graph;
};

static void start(struct made *m)
{
	ck_assert_int_eq(chain_make(&m->chain, &m->r.sum), 0);
	ck_assert_int_eq(graph_make(&m->graph, &m->r.sum, &m->chain), 0);
}

static void stop(struct made *m)
{
	graph_release(&m->graph);
	chain_release(&m->chain);
	recorded_release(&m->r);
}

static bool has_edge(const struct graph *g, uint32_t from, uint32_t to)
{
	const uint32_t *list;
	size_t n = graph_tasks(g, to, false, &list);

	for (size_t k = 0; k < n; k++) {
		if (list[k] == from)
			return true;
	}
	return false;
}

/* All steps between two tasks, worked out slowly; NODES: more. */
static int steps(const struct graph *g, uint32_t from, uint32_t to)
{
	int *distance = malloc(g->n * sizeof *distance), result;

	for (size_t i = 0; i < g->n; i++)
		distance[i] = i == from ? 0 : NODES;
	for (int round = 0; round < NODES; round++) {
		for (uint32_t i = 0; i < g->n; i++) {
			const uint32_t *list;
			size_t n = graph_tasks(g, i, false, &list);

			for (size_t k = 0; k < n; k++) {
				if (distance[list[k]] + 1 < distance[i])
					distance[i] = distance[list[k]] + 1;
			}
		}
	}
	result = distance[to];
	free(distance);
	return result;
}

TEST(around_any_task)
{
	for (uint64_t seed = 1; seed < 30; seed++) {
		uint64_t state = seed;
		struct made m;

		recorded_random(&m.r, 60, seed);
		start(&m);
		for (int round = 0; round < 20; round++) {
			uint32_t task = (uint32_t)random_below(&state, m.graph.n);
			unsigned up = (unsigned)random_below(&state, 5), down = (unsigned)random_below(&state, 5);
			size_t most = 1 + random_below(&state, round % 2 ? 300 : 6), tasks = 0;
			struct graph_part p;

			ck_assert_int_eq(graph_around(&p, &m.graph, task, up, down, most), 0);
			ck_assert_uint_eq(p.node[0].task, task);
			for (size_t i = 0; i < p.n; i++) {
				const struct graph_node *n = &p.node[i];

				if (n->task == NO_INDEX) {
					ck_assert(n->n_more && n->of < i && p.n_hidden);
					continue;
				}
				tasks++;
				for (size_t k = 0; k < i; k++)
					ck_assert(p.node[k].task != n->task);
				if (n->distance < 0 && !p.n_hidden)
					ck_assert_int_eq(steps(&m.graph, n->task, task), -n->distance);
				if (n->distance > 0 && !p.n_hidden)
					ck_assert_int_eq(steps(&m.graph, task, n->task), n->distance);
			}
			ck_assert_uint_le(tasks, most);
			for (uint32_t i = 0; !p.n_hidden && i < m.graph.n; i++) {
				bool within = steps(&m.graph, i, task) <= (int)up || steps(&m.graph, task, i) <= (int)down;
				size_t found = 0;

				for (size_t k = 0; k < p.n; k++)
					found += p.node[k].task == i;
				ck_assert_int_eq(found, within);
			}
			for (size_t i = 0; i < p.n_edges; i++) {
				const struct graph_edge *e = &p.edge[i];

				if (e->kind != GRAPH_MORE && e->kind != GRAPH_WORKER)
					ck_assert(has_edge(&m.graph, p.node[e->from].task, p.node[e->to].task));
			}
			graph_part_release(&p);
		}
		stop(&m);
		support_cleanup();
	}
}

/* Cycles */

#define TASKS "open\t0\tm\t10\t0\t10\tmake\t4.3\t/src\tmake\n" \
	"start\t10\tm.1\t11\t\t\td\t\ttouch d\ndone\t20\tm.1\t0\t1\t1\n" \
	"start\t30\tm.2\t11\t\t\tc\t\ttouch c\nafter\t30\tm.2\td\ndone\t40\tm.2\t0\t1\t1\n" \
	"start\t50\tm.3\t11\t\t\tb\t\ttouch b\nafter\t50\tm.3\tc\ndone\t60\tm.3\t0\t1\t1\n" \
	"start\t70\tm.4\t11\t\t\ta\t\ttouch a\nafter\t70\tm.4\tb\ndone\t80\tm.4\t0\t1\t1\n"

static const struct {
	const char *lines;
	const char *expected;	/* each cycle: its nodes, "?" if it is not whole; its edges */
} outputs[] = {
	{ "cc -c a.c\n", "" },
	{ "make: Circular c <- a dependency dropped.\n", "a b c: a>c! b>a c>b;" },
	{ "make[3]: Circular c <- a dependency dropped.\nmake[3]: Circular c <- a dependency dropped.\n",
	  "a b c: a>c! b>a c>b;" },
	{ "make: Circular d <- d dependency dropped.\n", "d: d>d!;" },
	{ "make: Circular phony <- a dependency dropped.\n", "a phony?: a>phony! phony>a~;" },
	{ "make: Circular x <- y dependency dropped.\n", "x y?: x>y~ y>x!;" },
	{ "ninja: error: dependency cycle: x -> y -> z -> x [-w phonycycle=err]\n", "x y z: x>z! y>x! z>y!;" },
	{ "Dependency loop #1 found:\n  Task /r/x.bb:do_a (dependent Tasks ['x'])\n"
	  "  Task /r/x.bb:do_b (dependent Tasks ['y'])\n\nNOTE: more\n",
	  "/r/x.bb:do_a /r/x.bb:do_b: /r/x.bb:do_a>/r/x.bb:do_b! /r/x.bb:do_b>/r/x.bb:do_a!;" },
	{ "Dependency loop #1 found:\n", "" },
	{ "Dependency loop #1 found:\n  Task a (", "a: a>a!;" },
	{ ": Circular  <-  dependency dropped.\n", ": >!;" },
};

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void add_sorted(struct buf *out, char **text, size_t n)
{
	qsort(text, n, sizeof *text, by_text);
	for (size_t i = 0; i < n; i++) {
		buf_adds(out, i ? " " : "");
		buf_adds(out, text[i]);
		free(text[i]);
	}
}

static void describe(struct buf *out, const struct cycles *c)
{
	static const char *const mark[] = { "", "!", "~" };

	for (size_t i = 0; i < c->n; i++) {
		const struct cycles_item *item = &c->cycle[i];
		char *text[20];

		for (uint32_t k = 0; k < item->n_nodes; k++)
			text[k] = strdup(c->node[item->first_node + k].name);
		add_sorted(out, text, item->n_nodes);
		buf_adds(out, item->whole ? ": " : "?: ");
		for (uint32_t k = 0; k < item->n_edges; k++) {
			const struct cycles_edge *e = &c->edge[item->first_edge + k];

			ck_assert_int_gt(asprintf(&text[k], "%s>%s%s", c->node[e->from].name, c->node[e->to].name,
						  mark[e->kind]), 0);
		}
		add_sorted(out, text, item->n_edges);
		buf_addc(out, ';');
	}
}

TEST_EACH(reported_cycles, outputs)
{
	struct buf text = BUF_INIT;
	struct error err;
	struct cycles c;
	struct made m;

	recorded_make(&m.r, "end_us: 100\n", TASKS, NULL);
	start(&m);
	support_writes(support_path("%s/" OUTPUT_LOG, m.r.rec.path), outputs[_i].lines);
	support_writes(support_path("%s/" OUTPUT_INDEX, m.r.rec.path), OUTPUT_HEADER);
	ck_assert_int_eq(cycles_read(&c, &m.graph, m.r.rec.path, NULL, &err), 0);
	describe(&text, &c);
	ck_assert_str_eq(buf_str(&text), outputs[_i].expected);
	if (_i == 1) {
		ck_assert_uint_eq(c.cycle[0].n_tasks, 3);
		ck_assert_int_eq(c.cycle[0].wall_us, 30);
	}
	buf_release(&text);
	cycles_release(&c);
	stop(&m);
}

/* A real make, which drops a dependency and goes on. */
TEST(real_make)
{
	struct buf text = BUF_INIT;
	struct error err;
	struct cycles c;
	struct made m;
	struct run r;

	SKIP_IF(!support_can_be_loaded());
	support_writes(support_path("%s/Makefile", support_tmpdir()),
		       "a: b\n\ttouch a\nb: c\n\ttouch b\nc: a\n\ttouch c\n");
	support_run(&r, support_tmpdir(), TOP_BUILDDIR "/buildbeat record --log -n one -- make a");
	ck_assert_int_eq(r.status, 0);
	recorded_read(&m.r, support_path("%s/buildstats/one", support_tmpdir()));
	start(&m);
	ck_assert_int_eq(cycles_read(&c, &m.graph, m.r.rec.path, NULL, &err), 0);
	ck_assert(c.has_output);
	describe(&text, &c);
	ck_assert_str_eq(buf_str(&text), "a b c: a>c! b>a c>b;");
	buf_release(&text);
	cycles_release(&c);
	stop(&m);
}

TEST_MAIN(graph);
