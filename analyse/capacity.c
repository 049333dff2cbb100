/* SPDX-License-Identifier: MIT */
#include "analyse/capacity.h"

#include "base/array.h"
#include "base/minmax.h"
#include "base/search.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

static int add_full(struct capacity *g, int64_t from_us, int64_t to_us)
{
	struct capacity_full *last = g->n_full ? &g->full[g->n_full - 1] : NULL;

	if (from_us >= to_us)
		return 0;
	if (last && last->to_us == from_us) {
		last->to_us = to_us;
		return 0;
	}
	last = array_add(&g->full, &g->n_full, sizeof *last);
	if (!last)
		return -ENOMEM;
	*last = (struct capacity_full){ from_us, to_us, 0 };
	return 0;
}

void capacity_enter(struct capacity *g, int64_t time_us)
{
	if (++g->n == g->limit)
		g->full_us = time_us;
	g->most = MAX(g->n, g->most);
}

int capacity_leave(struct capacity *g, int64_t time_us)
{
	return g->n-- == g->limit ? add_full(g, g->full_us, time_us) : 0;
}

/* It was not full between two times, but not longer than the slack. */
static bool is_joined(const struct capacity *g, size_t i)
{
	return g->full[i].from_us - g->full[i - 1].to_us <= g->slack_us;
}

void capacity_close(struct capacity *g, int64_t slack_us)
{
	int64_t sum_us = 0;

	g->slack_us = slack_us;
	for (size_t i = 0; i < g->n_full; i++) {
		if (i)
			sum_us += (is_joined(g, i) ? g->full[i].from_us : g->full[i - 1].to_us) -
				  g->full[i - 1].from_us;
		g->full[i].sum_us = sum_us;
	}
}

void capacity_release(struct capacity *g)
{
	free(g->full);
	*g = (struct capacity){ 0 };
}

/* How many begin before the time. Tasks ask in the order of time, so the answer is near the last
 * one. */
static size_t begun_before(struct capacity *g, int64_t time_us)
{
	size_t low = g->near, high = g->near, step = 1;
	struct search_range s;

	for (; high < g->n_full && g->full[high].from_us < time_us; step *= 2) {
		low = high + 1;
		high = g->n_full - high > step ? high + step : g->n_full;
	}
	for (; low && g->full[low - 1].from_us >= time_us; step *= 2) {
		high = low - 1;
		low = low > step ? low - step : 0;
	}
	s = search_between(low, high);
	while (search_next(&s))
		search_past(&s, g->full[s.at].from_us < time_us);
	return g->near = s.at;
}

/* Full since the beginning. */
static int64_t sum_until(struct capacity *g, int64_t time_us)
{
	size_t i = begun_before(g, time_us);
	int64_t end_us;

	if (!i)
		return 0;
	end_us = i < g->n_full && is_joined(g, i) ? g->full[i].from_us : g->full[i - 1].to_us;
	return g->full[i - 1].sum_us + MIN(end_us, time_us) -
	       g->full[i - 1].from_us;
}

int64_t capacity_full_us(struct capacity *g, int64_t from_us, int64_t to_us)
{
	return from_us < to_us ? sum_until(g, to_us) - sum_until(g, from_us) : 0;
}

int64_t capacity_waited_us(struct capacity *g, int64_t from_us, int64_t until_us,
			   int64_t *last_us)
{
	size_t i = begun_before(g, until_us);
	int64_t end_us = i ? g->full[i - 1].to_us : from_us;

	end_us = MIN(end_us, until_us);
	end_us = MAX(end_us, from_us);
	if (last_us)
		*last_us = end_us;
	return capacity_full_us(g, from_us, end_us);
}

int capacity_both(struct capacity *both, const struct capacity *a, const struct capacity *b)
{
	*both = (struct capacity){ .limit = 2 };
	for (size_t i = 0, k = 0; i < a->n_full && k < b->n_full;) {
		int64_t a_to = i + 1 < a->n_full && is_joined(a, i + 1) ? a->full[i + 1].from_us :
			       a->full[i].to_us;
		int64_t b_to = k + 1 < b->n_full && is_joined(b, k + 1) ? b->full[k + 1].from_us :
			       b->full[k].to_us;
		int64_t from_us = MAX(a->full[i].from_us, b->full[k].from_us);

		if (add_full(both, from_us, MIN(a_to, b_to)))
			return -ENOMEM;
		if (a_to <= b_to)
			i++;
		else
			k++;
	}
	capacity_close(both, 0);
	return 0;
}
