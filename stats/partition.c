/* SPDX-License-Identifier: MIT */
#include "stats/partition.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Candidates are compared in two independent vectors, so that neither waits for the other. */
#define LANES 2

typedef double lanes __attribute__((vector_size(LANES * sizeof(double))));
typedef int64_t lanes_mask __attribute__((vector_size(LANES * sizeof(double))));

void partition_release(struct partition *p)
{
	free(p->sum);
	free(p->squares);
	free(p->cost);
	free(p->share);
	free(p->from);
	*p = (struct partition)PARTITION_INIT;
}

static int make_room(struct partition *p, size_t n)
{
	if (n <= p->cap)
		return 0;
	partition_release(p);
	p->sum = malloc((n + 1) * sizeof *p->sum);
	p->squares = malloc((n + 1) * sizeof *p->squares);
	p->cost = malloc((n + 1) * sizeof *p->cost);
	p->share = malloc(n * sizeof *p->share);
	p->from = malloc((n + 1) * sizeof *p->from);
	if (!p->sum || !p->squares || !p->cost || !p->share || !p->from) {
		partition_release(p);
		return -ENOMEM;
	}
	p->cap = n;
	for (size_t i = 0; i < n; i++)
		p->share[i] = 1.0 / (n - i);
	return 0;
}

int partition_load(struct partition *p, const double *v, size_t n)
{
	int r = make_room(p, n ? n : 1);

	if (r)
		return r;
	p->sum[0] = p->squares[0] = 0;
	for (size_t i = 0; i < n; i++) {
		p->sum[i + 1] = p->sum[i] + v[i];
		p->squares[i + 1] = p->squares[i] + v[i] * v[i];
	}
	return 0;
}

double partition_mean(const struct partition *p, size_t begin, size_t end)
{
	return (p->sum[end] - p->sum[begin]) / (end - begin);
}

double partition_rest(const struct partition *p, size_t begin, size_t end)
{
	double sum = p->sum[end] - p->sum[begin];
	double rest = p->squares[end] - p->squares[begin] - sum * sum / (end - begin);

	return rest > 0 ? rest : 0;
}

/* The cost of the values up to end whose last segment begins at begin. The squares up to end
 * are left out because they do not depend on begin. */
static double cost_from(const struct partition *p, size_t begin, size_t end)
{
	double sum = p->sum[end] - p->sum[begin];

	return p->cost[begin] - sum * sum * p->share[p->cap - end + begin];
}

struct best {
	double cost;
	size_t at;
};

static void keep_best(struct best *best, double cost, size_t at)
{
	if (cost < best->cost || (cost == best->cost && at < best->at))
		*best = (struct best){ cost, at };
}

static lanes load(const double *p)
{
	lanes v;

	memcpy(&v, p, sizeof v);
	return v;
}

static lanes either(lanes_mask which, lanes yes, lanes no)
{
	return (lanes)((which & (lanes_mask)yes) | (~which & (lanes_mask)no));
}

struct least {
	lanes cost, at;
};

static void keep_least(struct least *least, lanes cost, lanes at)
{
	lanes_mask less = cost < least->cost;

	least->cost = either(less, cost, least->cost);
	least->at = either(less, at, least->at);
}

static lanes begin_cost(const struct partition *p, const double *share, lanes total, size_t begin)
{
	lanes sum = total - load(p->sum + begin);

	return load(p->cost + begin) - sum * sum * load(share + begin);
}

/* The cheapest begin from first to last of a segment that ends at end. */
static struct best best_begin(const struct partition *p, size_t first, size_t last, size_t end)
{
	const double *share = p->share + p->cap - end;
	const lanes total = { p->sum[end], p->sum[end] }, none = { INFINITY, INFINITY };
	struct least even = { .cost = none }, odd = { .cost = none };
	struct best best = { INFINITY, SIZE_MAX };
	lanes at = { first, first + 1 };
	size_t s = first;

	for (; s + 2 * LANES <= last + 1; s += 2 * LANES) {
		keep_least(&even, begin_cost(p, share, total, s), at);
		keep_least(&odd, begin_cost(p, share, total, s + LANES), at + LANES);
		at += 2 * LANES;
	}
	for (size_t i = 0; i < LANES; i++) {
		keep_best(&best, even.cost[i], even.at[i]);
		keep_best(&best, odd.cost[i], odd.at[i]);
	}
	for (; s <= last; s++)
		keep_best(&best, cost_from(p, s, end), s);
	return best;
}

static size_t segments(const struct partition *p, uint32_t *start, size_t n)
{
	size_t k = 0;

	for (size_t end = n; end; end = p->from[end])
		start[k++] = p->from[end];
	for (size_t i = 0; i < k / 2; i++) {
		uint32_t t = start[i];

		start[i] = start[k - 1 - i];
		start[k - 1 - i] = t;
	}
	return k;
}

size_t partition_cut(struct partition *p, uint32_t *start, size_t n, double penalty,
		     size_t shortest)
{
	size_t first = 0;

	start[0] = 0;
	if (n < 2 * shortest)
		return n ? 1 : 0;
	p->cost[0] = 0;
	for (size_t end = 1; end < shortest; end++)
		p->cost[end] = INFINITY;
	for (size_t end = shortest; end <= n; end++) {
		struct best best;

		/* A begin that is not better than a new segment at end - shortest is
		 * never the best one again (PELT). */
		while (end >= first + 2 * shortest &&
		       cost_from(p, first, end - shortest) >= p->cost[end - shortest])
			first++;
		best = best_begin(p, first, end - shortest, end);
		p->cost[end] = best.cost + penalty;
		p->from[end] = best.at;
	}
	return segments(p, start, n);
}
