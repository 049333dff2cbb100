/* SPDX-License-Identifier: MIT */
#include "stats/partition.h"

#include "base/array.h"
#include "base/minmax.h"

#include <errno.h>
#include <math.h>

/*
 * If the last segment begins at s and has the mean m, the values up to end cost
 *	cost[s] + 2 m sum[s] - m^2 s
 * plus terms in which s does not occur. So a begin that is not the best one for any m never is
 * again, whatever follows. (Maidstone, Hocking, Rigaill, Fearnhead: On optimal multiple
 * changepoint algorithms for large data, 2017.) Each piece is a range of m, up to the
 * next piece, and its best begin.
 */
struct partition_piece {
	double from;
	uint32_t begin;
};

void partition_release(struct partition *p)
{
	free_all(p->sum, p->squares, p->cost, p->from, p->piece, p->spare);
	*p = (struct partition)PARTITION_INIT;
}

static int make_room(struct partition *p, size_t n)
{
	if (n <= p->cap)
		return 0;
	partition_release(p);
	p->sum = array_new(n + 1, sizeof *p->sum);
	p->squares = array_new(n + 1, sizeof *p->squares);
	p->cost = array_new(n + 1, sizeof *p->cost);
	p->from = array_new(n + 1, sizeof *p->from);
	p->piece = array_new(2 * n + 2, sizeof *p->piece);
	p->spare = array_new(2 * n + 2, sizeof *p->spare);
	if (!p->sum || !p->squares || !p->cost || !p->from || !p->piece || !p->spare) {
		partition_release(p);
		return -ENOMEM;
	}
	p->cap = n;
	return 0;
}

int partition_load(struct partition *p, const double *v, size_t n)
{
	int r = make_room(p, n ? n : 1);

	if (r)
		return r;
	p->sum[0] = p->squares[0] = 0;
	p->low = INFINITY;
	p->high = -INFINITY;
	for (size_t i = 0; i < n; i++) {
		p->low = MIN(v[i], p->low);
		p->high = MAX(v[i], p->high);
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

	return MAX(rest, 0);
}

struct pieces {
	struct partition_piece *to;
	size_t n, cap;
};

static void add_piece(struct pieces *l, double from, size_t begin)
{
	/* n parabolas have at most 2 n - 1 pieces. More of them are of no width. */
	if (!l->n || (l->to[l->n - 1].begin != begin && l->n < l->cap))
		l->to[l->n++] = (struct partition_piece){ from, (uint32_t)begin };
}

/*
 * A later begin is better than an earlier one except in an interval of m. Adds what remains
 * of the piece [from, until) of the earlier begin, and what the later one gets.
 */
static void divide(struct pieces *l, const struct partition *p, const struct partition_piece *old,
		   double until, size_t later)
{
	double n = later - old->begin, lead = p->cost[old->begin] - p->cost[later];
	double sum = p->sum[later] - p->sum[old->begin];
	double left = lead + old->from * (n * old->from - 2 * sum);
	double right = lead + until * (n * until - 2 * sum);
	double middle, width;

	if (left <= 0 && right <= 0) {
		add_piece(l, old->from, old->begin);
		return;
	}
	middle = sum / n;
	width = middle * middle - lead / n;
	if (width < 0 || (left > 0 && middle < old->from) || (right > 0 && middle > until)) {
		add_piece(l, old->from, later);
		return;
	}
	width = sqrt(width);
	if (left > 0)
		add_piece(l, old->from, later);
	add_piece(l, left > 0 ? middle - width : old->from, old->begin);
	if (right > 0)
		add_piece(l, middle + width, later);
}

static size_t add_begin(struct partition *p, size_t n_pieces, size_t begin)
{
	struct pieces l = { .to = p->spare, .cap = 2 * p->cap + 2 };

	for (size_t i = 0; i < n_pieces; i++)
		divide(&l, p, &p->piece[i], i + 1 < n_pieces ? p->piece[i + 1].from : p->high, begin);
	p->spare = p->piece;
	p->piece = l.to;
	return l.n;
}

/* Sets cost[] and from[] of the values up to end. */
static void end_segment(struct partition *p, size_t n_pieces, size_t end, double penalty)
{
	double least = INFINITY;
	uint32_t best = 0;

	for (size_t i = 0; i < n_pieces; i++) {
		uint32_t begin = p->piece[i].begin;
		double sum = p->sum[end] - p->sum[begin];
		double cost = p->cost[begin] - sum * sum / (end - begin);

		if (cost < least || (cost == least && begin < best)) {
			least = cost;
			best = begin;
		}
	}
	p->cost[end] = least + penalty;
	p->from[end] = best;
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
	size_t n_pieces = 1;

	start[0] = 0;
	if (n < 2 * shortest)
		return n ? 1 : 0;
	p->cost[0] = 0;
	p->piece[0] = (struct partition_piece){ p->low, 0 };
	for (size_t end = shortest; end <= n; end++) {
		if (end >= 2 * shortest)
			n_pieces = add_begin(p, n_pieces, end - shortest);
		end_segment(p, n_pieces, end, penalty);
	}
	return segments(p, start, n);
}
