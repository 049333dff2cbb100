/* SPDX-License-Identifier: MIT */
#include "rerun/simulate.h"
#include "tests/recorded.h"
#include "tests/support.h"

/*
 * The simulator beside a slow one, which looks at every node at every moment, on random graphs; and what
 * is true of every schedule.
 */

#define NODES_MAX 64
#define INSTANCES_MAX 4
#define POOLS_MAX 2
#define EDGES_MAX (NODES_MAX * 8)

struct graph {
	uint64_t state;
	struct recording rec;
	struct summary sum;
	struct pool pool[POOLS_MAX];
	struct rerun_model m;
	struct rerun_node node[NODES_MAX];
	struct rerun_instance instance[INSTANCES_MAX];
	uint32_t first_next[NODES_MAX + 1], next[EDGES_MAX], n_waits[NODES_MAX], place[NODES_MAX];
	uint32_t of_rank[NODES_MAX];
	bool edge[NODES_MAX][NODES_MAX];
};

static unsigned below(struct graph *g, unsigned n)
{
	return (unsigned)random_below(&g->state, n);
}

static bool one_in(struct graph *g, unsigned n)
{
	return !below(g, n);
}

/* Nothing takes exactly as long as anything else. */
static double some_us(struct graph *g, unsigned most)
{
	return 1 + below(g, most) + (double)below(g, 1000000) / 1e6;
}

static void make_nodes(struct graph *g, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		unsigned kind = i && i + 1 < n ? below(g, 8) : 0;

		g->node[i] = (struct rerun_node){
			.kind = !kind ? RERUN_JOINT : kind == 1 ? RERUN_SERIAL : RERUN_TASK,
			.threads = one_in(g, 5) ? 1 + (float)below(g, 20) / 10 : 1, .task = NO_INDEX,
			.instance = below(g, (unsigned)g->m.n_instances), .rank = NO_INDEX, .host = NO_INDEX,
			.pool = NO_INDEX,
		};
		if (!kind)
			continue;
		g->node[i].cpu_us = some_us(g, one_in(g, 4) ? 100000 : 2000);
		g->node[i].wait_us = one_in(g, 3) ? some_us(g, 3000) : 0;
		if (kind > 1 && one_in(g, 3))
			g->node[i].host_us = (float)some_us(g, 200);
		/* a pool belongs to one instance */
		if (kind > 1 && g->node[i].instance < g->m.n_pools && one_in(g, 2))
			g->node[i].pool = g->node[i].instance;
	}
}

static void make_edges(struct graph *g, unsigned n)
{
	memset(g->edge, 0, sizeof g->edge);
	for (unsigned i = 1; i < n; i++) {
		for (unsigned k = below(g, 4); k--; )
			g->edge[below(g, i)][i] = true;
	}
	/* a task that hosts: what is between its begin and its end belongs to neither */
	for (unsigned i = 1; i + 2 < n; i++) {
		unsigned end = i + 1 + below(g, n - i - 2);

		if (g->node[i].kind != RERUN_TASK || g->node[end].kind != RERUN_JOINT ||
		    g->node[end].host != NO_INDEX || one_in(g, 2))
			continue;
		g->node[i].kind = RERUN_HOST;
		g->node[end].host = i;
		g->node[end].instance = g->node[i].instance;
		g->edge[i][end] = true;
	}
	/* the next line of a recipe */
	for (unsigned i = 1; i + 1 < n; i++) {
		for (unsigned k = i + 1; k + 1 < n; k++) {
			if (!g->edge[i][k] || g->node[i].kind != RERUN_TASK || g->node[k].kind != RERUN_TASK ||
			    g->node[i].instance != g->node[k].instance || g->node[k].goes_on || !one_in(g, 4))
				continue;
			g->node[i].keeps = g->node[k].goes_on = true;
			g->node[i].pool = g->node[k].pool = NO_INDEX;
			g->node[k].host_us = 0;
			break;
		}
	}
	for (unsigned i = 1; i < n; i++) {
		bool before = false, after = false;

		for (unsigned k = 0; k < n; k++) {
			before |= g->edge[k][i];
			after |= g->edge[i][k];
		}
		g->edge[0][i] |= !before;
		if (i + 1 < n)
			g->edge[i][n - 1] |= !after;
	}
}

static void make_lists(struct graph *g, unsigned n)
{
	uint32_t at = 0;

	memset(g->n_waits, 0, sizeof g->n_waits);
	for (unsigned i = 0; i < n; i++) {
		g->first_next[i] = at;
		for (unsigned k = 0; k < n; k++) {
			if (!g->edge[i][k])
				continue;
			ck_assert_uint_lt(at, EDGES_MAX);
			g->next[at++] = k;
			g->n_waits[k]++;
		}
	}
	g->first_next[n] = at;
	for (unsigned i = 0; i < n; i++)
		g->place[i] = i;
	for (unsigned i = n; i-- > 1; ) {
		unsigned other = below(g, i + 1);
		uint32_t place = g->place[i];

		g->place[i] = g->place[other];
		g->place[other] = place;
	}
}

static void make_ranks(struct graph *g, unsigned n)
{
	uint32_t rank = 0;

	for (unsigned in = 0; in < g->m.n_instances; in++) {
		uint32_t first = rank;

		for (unsigned i = 0; i < n; i++) {
			const struct rerun_node *node = &g->node[i];

			if (node->instance == in && !node->goes_on &&
			    (node->kind == RERUN_TASK || node->kind == RERUN_HOST))
				g->of_rank[rank++] = i;
		}
		for (uint32_t k = rank; k-- > first + 1; ) {
			uint32_t other = first + below(g, k - first + 1), moved = g->of_rank[k];

			g->of_rank[k] = g->of_rank[other];
			g->of_rank[other] = moved;
		}
		g->instance[in] = (struct rerun_instance){
			.scope = one_in(g, 3) ? in : below(g, in + 1), .first_rank = first, .n_ranks = rank - first,
			.jobs = 1 + below(g, 5), .passes = one_in(g, 2), .given = one_in(g, 5),
		};
		g->instance[in].scope = g->instance[g->instance[in].scope].scope;
		for (uint32_t k = first; k < rank; k++)
			g->node[g->of_rank[k]].rank = k;
	}
	g->m.n_ranks = rank;
}

static void make_graph(struct graph *g, uint64_t seed)
{
	unsigned n;

	memset(g, 0, sizeof *g);
	g->state = seed;
	n = 3 + below(g, NODES_MAX - 3);
	g->m = (struct rerun_model){
		.s = &g->sum, .n = n, .node = g->node, .first_next = g->first_next, .next = g->next,
		.n_waits = g->n_waits, .place = g->place, .n_instances = 1 + below(g, INSTANCES_MAX),
		.instance = g->instance, .n_pools = below(g, POOLS_MAX + 1), .of_rank = g->of_rank,
		.start = 0, .end = n - 1,
	};
	g->sum.rec = &g->rec;
	g->rec.pool = g->pool;
	for (unsigned i = 0; i < POOLS_MAX; i++)
		g->pool[i].depth = 1 + below(g, 3);
	make_nodes(g, n);
	make_edges(g, n);
	make_lists(g, n);
	make_ranks(g, n);
}

/* The slow one */

enum state { BLOCKED, READY, PAUSES, COMPUTES, DONE };

struct slow {
	const struct graph *g;
	double now_us, cores;
	enum state state[NODES_MAX];
	double until_us[NODES_MAX], left_us[NODES_MAX];
	double start_us[NODES_MAX], end_us[NODES_MAX];	/* -1: it did not start, or end */
	unsigned pool_turn[NODES_MAX], turns;	/* 0: it does not wait for its pool */
	unsigned running[INSTANCES_MAX];
	int64_t spare[INSTANCES_MAX];
	int64_t in_pool[POOLS_MAX];
	uint32_t next_rank[INSTANCES_MAX];
	double free_us[INSTANCES_MAX];
};

static void slow_begin(struct slow *s, unsigned i)
{
	const struct rerun_node *n = &s->g->node[i];

	s->start_us[i] = s->now_us;
	if (n->host_us > 0) {
		s->start_us[i] = fmax(s->now_us, s->free_us[n->instance]) + (double)n->host_us;
		s->free_us[n->instance] = s->start_us[i];
	}
	s->state[i] = PAUSES;
	s->until_us[i] = s->start_us[i] + n->wait_us;
	s->left_us[i] = n->kind == RERUN_HOST ? 0 : n->cpu_us;
}

static bool slow_is_ready(const struct slow *s, unsigned i)
{
	for (unsigned k = 0; k < s->g->m.n; k++) {
		if (s->g->edge[k][i] && s->state[k] != DONE)
			return false;
	}
	return s->state[i] == BLOCKED;
}

static void slow_give_back(struct slow *s, unsigned i)
{
	const struct rerun_node *n = &s->g->node[i];
	unsigned first = NO_INDEX;

	if (n->pool != NO_INDEX) {
		s->in_pool[n->pool]--;
		for (unsigned k = 0; k < s->g->m.n; k++) {
			if (s->pool_turn[k] && s->g->node[k].pool == n->pool &&
			    (first == NO_INDEX || s->pool_turn[k] < s->pool_turn[first]))
				first = k;
		}
		if (first != NO_INDEX)
			s->pool_turn[first] = 0;
	}
	if (!n->keeps && --s->running[n->instance])
		s->spare[s->g->instance[n->instance].scope]++;
}

/* Everything that ends now, and what follows without taking time or a worker. */
static bool slow_end(struct slow *s)
{
	bool any = false;

	for (unsigned i = 0; i < s->g->m.n; i++) {
		const struct rerun_node *n = &s->g->node[i];
		bool over = (s->state[i] == PAUSES && s->until_us[i] <= s->now_us && s->left_us[i] <= 0) ||
			    (s->state[i] == COMPUTES && s->left_us[i] <= 1e-9);

		if (s->state[i] == PAUSES && s->until_us[i] <= s->now_us && !over)
			s->state[i] = COMPUTES;
		if (slow_is_ready(s, i)) {
			any = true;
			s->state[i] = READY;
			if (n->kind == RERUN_JOINT)
				s->start_us[i] = s->now_us;
			else if (n->kind == RERUN_SERIAL || n->goes_on)
				slow_begin(s, i);
			over = n->kind == RERUN_JOINT;
		}
		if (!over)
			continue;
		any = true;
		s->state[i] = DONE;
		s->end_us[i] = s->now_us;
		if (n->kind == RERUN_TASK)
			slow_give_back(s, i);
		else if (n->host != NO_INDEX)
			slow_give_back(s, n->host);
	}
	return any;
}

static unsigned slow_best_of(const struct slow *s, unsigned in, uint32_t from)
{
	unsigned best = NO_INDEX;

	for (unsigned i = 0; i < s->g->m.n; i++) {
		const struct rerun_node *n = &s->g->node[i];

		if (n->instance == in && s->state[i] == READY && n->kind != RERUN_JOINT && !s->pool_turn[i] &&
		    n->rank >= from && (best == NO_INDEX || n->rank < s->g->node[best].rank))
			best = i;
	}
	return best;
}

static bool slow_start_one(struct slow *s)
{
	unsigned best = NO_INDEX;
	const struct rerun_node *n;

	for (unsigned in = 0; in < s->g->m.n_instances; in++) {
		const struct rerun_instance *instance = &s->g->instance[in];
		unsigned one = instance->passes ? slow_best_of(s, in, s->next_rank[in]) : NO_INDEX;

		if (s->running[in] && s->spare[instance->scope] <= 0)
			continue;
		if (one == NO_INDEX)
			one = slow_best_of(s, in, 0);
		if (one != NO_INDEX && (best == NO_INDEX || s->g->place[one] < s->g->place[best]))
			best = one;
	}
	if (best == NO_INDEX)
		return false;
	n = &s->g->node[best];
	if (n->pool != NO_INDEX && s->in_pool[n->pool] >= s->g->pool[n->pool].depth) {
		s->pool_turn[best] = ++s->turns;
		return true;
	}
	if (n->pool != NO_INDEX)
		s->in_pool[n->pool]++;
	s->spare[s->g->instance[n->instance].scope] -= s->running[n->instance]++ > 0;
	s->next_rank[n->instance] = n->rank + 1;
	slow_begin(s, best);
	return true;
}

static double slow_run(struct slow *s, const struct graph *g, const struct rerun_conditions *c)
{
	memset(s, 0, sizeof *s);
	s->g = g;
	for (unsigned i = 0; i < NODES_MAX; i++)
		s->start_us[i] = s->end_us[i] = -1;
	for (unsigned i = 0; i < g->m.n_instances; i++) {
		s->spare[i] = (c->jobs && !g->instance[i].given ? c->jobs : g->instance[i].jobs) - 1;
		s->next_rank[i] = g->instance[i].first_rank;
	}
	for (;;) {
		double computing = 0, share, step_us = INFINITY;

		do {
			while (slow_end(s))
				;
			while (slow_start_one(s))
				;
		} while (slow_end(s));
		if (s->state[g->m.n - 1] == DONE)
			return s->now_us;
		for (unsigned i = 0; i < g->m.n; i++)
			computing += s->state[i] == COMPUTES ? (double)g->node[i].threads : 0;
		share = c->cores > 0 && computing > c->cores ? c->cores / computing : 1;
		for (unsigned i = 0; i < g->m.n; i++) {
			if (s->state[i] == PAUSES)
				step_us = fmin(step_us, s->until_us[i] - s->now_us);
			else if (s->state[i] == COMPUTES)
				step_us = fmin(step_us, s->left_us[i] / share);
		}
		if (!isfinite(step_us))		/* a task that hosts has the worker that those in it wait for */
			return -1;
		for (unsigned i = 0; i < g->m.n; i++) {
			if (s->state[i] == COMPUTES)
				s->left_us[i] -= step_us * share;
			if (s->state[i] == PAUSES && s->until_us[i] - s->now_us <= step_us)
				s->until_us[i] = s->now_us + step_us;
		}
		s->now_us += step_us;
	}
}

/* True of every schedule. */
static void check_schedule(const struct graph *g, const struct rerun_run *r, const struct rerun_conditions *c)
{
	double cpu_us = 0;

	for (unsigned i = 0; i < g->m.n; i++) {
		const struct rerun_node *n = &g->node[i];
		double least_us = n->kind == RERUN_JOINT || n->kind == RERUN_HOST ? 0 : n->cpu_us + n->wait_us;

		ck_assert(r->start_us[i] >= 0 && r->end_us[i] >= r->start_us[i] + least_us - 1e-3);
		for (unsigned k = 0; k < g->m.n; k++)
			ck_assert(!g->edge[k][i] || r->end_us[k] <= r->start_us[i] + 1e-3);
		if (n->kind == RERUN_TASK || n->kind == RERUN_SERIAL)
			cpu_us += n->cpu_us * (double)n->threads;
	}
	ck_assert_double_eq_tol(cpu_us, r->cpu_us, 1e-3 + 1e-6 * cpu_us);
	if (c->cores > 0)
		ck_assert_double_le(cpu_us, c->cores * (double)r->wall_us * 1.001 + 2 * c->cores);
}

TEST(beside_a_slow_one)
{
	static struct graph g;
	static struct slow slow;
	unsigned shared = 0, pools = 0, hosts = 0, stuck = 0;

	for (unsigned seed = 0; seed < 3000; seed++) {
		struct rerun_conditions c;
		struct rerun_run r;
		double wall_us;

		make_graph(&g, seed);
		c = (struct rerun_conditions){ below(&g, 3) ? 1 + below(&g, 8) : 0,
						below(&g, 4) ? .5 + below(&g, 8) / 2. : 0 };
		ck_assert_int_eq(rerun_simulate(&r, &g.m, &c, true), 0);
		wall_us = slow_run(&slow, &g, &c);
		ck_assert_int_eq(r.end_us[g.m.end] < 0, wall_us < 0);
		stuck += wall_us < 0;
		for (unsigned i = 0; i < g.m.n; i++) {
			ck_assert_msg((r.end_us[i] < 0 || fabs(r.start_us[i] - slow.start_us[i]) < 1e-3) &&
				      fabs(r.end_us[i] - slow.end_us[i]) < 1e-3,
				      "graph %u, node %u of %zu: %.6f to %.6f, and %.6f to %.6f", seed, i, g.m.n,
				      r.start_us[i], r.end_us[i], slow.start_us[i], slow.end_us[i]);
			pools += g.node[i].pool != NO_INDEX;
			hosts += g.node[i].kind == RERUN_HOST;
		}
		if (wall_us >= 0) {
			ck_assert_double_eq_tol((double)r.wall_us, wall_us, 1);
			check_schedule(&g, &r, &c);
		}
		shared += c.cores > 0 && c.cores < 2;
		rerun_run_release(&r);
	}
	ck_assert_uint_gt(shared, 500);
	ck_assert_uint_gt(pools, 1000);
	ck_assert_uint_gt(hosts, 1000);
	ck_assert_uint_lt(stuck, 1000);
}

/* With equal tasks that only compute, another core never makes it slower. */
TEST(more_cores)
{
	static struct graph g;
	unsigned faster = 0;

	for (unsigned seed = 0; seed < 500; seed++) {
		int64_t before_us = INT64_MAX;

		make_graph(&g, seed);
		for (unsigned i = 0; i < g.m.n; i++) {
			g.node[i].cpu_us = 1000;
			g.node[i].wait_us = g.node[i].host_us = 0;
			g.node[i].threads = 1;
		}
		for (unsigned cores = 1; cores <= 8; cores++) {
			const struct rerun_conditions c = { 0, cores };
			struct rerun_run r;

			ck_assert_int_eq(rerun_simulate(&r, &g.m, &c, false), 0);
			ck_assert_int_le(r.wall_us, before_us);
			faster += cores > 1 && r.wall_us < before_us;
			before_us = r.wall_us;
			rerun_run_release(&r);
		}
	}
	ck_assert_uint_gt(faster, 100);
}

/* Damaged recordings: nodes that wait for each other in a circle. */
TEST(circles)
{
	static struct graph g;
	static uint32_t order[NODES_MAX];

	for (unsigned seed = 0; seed < 200; seed++) {
		const struct rerun_conditions c = { 0, 2 };
		struct rerun_run r;

		make_graph(&g, seed);
		for (unsigned k = 0; k < 3; k++) {
			unsigned a = 1 + below(&g, (unsigned)g.m.n - 2), b = 1 + below(&g, (unsigned)g.m.n - 2);

			g.edge[a][b] = true;
		}
		make_lists(&g, (unsigned)g.m.n);
		for (unsigned i = 0; i < g.m.n; i++)
			order[i] = i;
		g.sum.order = g.m.of_task = order;
		g.sum.n_ran = g.m.n;
		ck_assert_int_eq(rerun_simulate(&r, &g.m, &c, true), 0);
		ck_assert(r.end_us[g.m.end] >= 0);
		rerun_run_release(&r);
	}
}

TEST_MAIN(simulate);
