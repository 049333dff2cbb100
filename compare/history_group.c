/* SPDX-License-Identifier: MIT */
#include "compare/history_group.h"

#include "base/array.h"
#include "base/minmax.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WEIGHT (1 << 20)	/* of a change whose interval is one build */

/* An event can be added to a neighbour with at least this many times its changes. */
#define STRAY_PART 10

#define OUTLIERS 2		/* that can be taken as the first builds of a change */

#define NO_GROUP UINT32_MAX

struct group {
	uint32_t at;
	uint32_t first, last;
	size_t n;
	bool creep;
	size_t rank;		/* index of its event */
};

struct grouping {
	struct history *h;
	const struct builds *builds;
	struct group *group;
	size_t n;
	int64_t *score;		/* of every build, as the common build of steps */
	int64_t *edge;		/* work */
};

static int new_group(struct grouping *g, uint32_t at, bool creep)
{
	struct group *added = array_add(&g->group, &g->n, sizeof *added);

	if (!added)
		return -ENOMEM;
	*added = (struct group){ .at = at, .last = UINT32_MAX, .creep = creep };
	return 0;
}

static bool covers(const struct history_change *c, uint32_t build)
{
	return c->change.first <= build && build <= c->change.last;
}

/* Allows an interval twice as wide, and two outliers as its first builds. */
static bool nearly_covers(const struct history_change *c, uint32_t build)
{
	int64_t before = 2 * ((int64_t)c->change.at - c->change.first) + OUTLIERS;
	int64_t behind = 2 * ((int64_t)c->change.last - c->change.at) + OUTLIERS;

	return c->change.at - before <= build && build <= c->change.at + behind;
}

static bool is_free_step(const struct history_change *c)
{
	return !c->creep && c->event == NO_GROUP;
}

/* A step counts in all builds of its interval, and twice in the likeliest one. */
static void score(struct grouping *g)
{
	const struct history *h = g->h;
	int64_t sum = 0;

	memset(g->score, 0, g->builds->n * sizeof *g->score);
	memset(g->edge, 0, (g->builds->n + 1) * sizeof *g->edge);
	for (size_t i = 0; i < h->n_changes; i++) {
		const struct change *c = &h->change[i].change;
		int64_t weight = WEIGHT / (c->last - c->first + 1);

		if (!is_free_step(&h->change[i]))
			continue;
		g->edge[c->first] += weight;
		g->edge[c->last + 1] -= weight;
		g->score[c->at] += weight;
	}
	for (size_t i = 0; i < g->builds->n; i++) {
		sum += g->edge[i];
		g->score[i] += sum;
	}
}

static int choose_builds(struct grouping *g)
{
	int r = 0;

	for (;;) {
		uint32_t build = 0;

		score(g);
		for (uint32_t i = 1; i < g->builds->n; i++)
			build = g->score[i] > g->score[build] ? i : build;
		if (!g->score[build])
			return r;
		r = new_group(g, build, false);
		if (r)
			return r;
		for (size_t i = 0; i < g->h->n_changes; i++) {
			if (is_free_step(&g->h->change[i]) && covers(&g->h->change[i], build))
				g->h->change[i].event = (uint32_t)(g->n - 1);
		}
	}
}

static uint32_t distance(uint32_t a, uint32_t b)
{
	return a > b ? a - b : b - a;
}

static void assign(struct grouping *g)
{
	for (size_t i = 0; i < g->h->n_changes; i++) {
		struct history_change *c = &g->h->change[i];
		uint32_t best = c->event;

		if (c->creep)
			continue;
		for (uint32_t k = 0; k < g->n; k++) {
			if (covers(c, g->group[k].at) && distance(c->change.at, g->group[k].at) <
			    distance(c->change.at, g->group[best].at))
				best = k;
		}
		c->event = best;
		g->group[best].n++;
	}
}

static bool all_nearly_cover(const struct grouping *g, uint32_t k, uint32_t build)
{
	for (size_t i = 0; i < g->h->n_changes; i++) {
		if (g->h->change[i].event == k && !nearly_covers(&g->h->change[i], build))
			return false;
	}
	return true;
}

static void add_strays(struct grouping *g)
{
	for (uint32_t k = 0; k < g->n; k++) {
		uint32_t best = k;

		for (uint32_t to = 0; g->group[k].n && to < g->n; to++) {
			if (g->group[to].n < STRAY_PART * g->group[k].n ||
			    g->group[to].n <= g->group[best].n ||
			    !all_nearly_cover(g, k, g->group[to].at))
				continue;
			best = to;
		}
		if (best != k) {
			for (size_t i = 0; i < g->h->n_changes; i++) {
				if (g->h->change[i].event == k)
					g->h->change[i].event = best;
			}
			g->group[best].n += g->group[k].n;
			g->group[k].n = 0;
		}
	}
}

static double amounts(double difference, enum metric m)
{
	return fabs(difference) / metric_info[m].least;
}

static double amounts_of(const struct history_change *c)
{
	if (c->task == TASK_HOST)
		return 0;
	return amounts(c->change.after - c->change.before, c->metric);
}

/* Whether they share half of the builds of both. */
static bool alike(const struct change *a, const struct change *b)
{
	uint32_t first = MAX(a->first, b->first);
	uint32_t last = MIN(a->last, b->last);
	uint32_t all = MAX(a->last, b->last) -
		       MIN(a->first, b->first) + 1;

	return first <= last && 2 * (last - first + 1) >= all;
}

static const struct history_change *largest_free_creep(const struct history *h)
{
	const struct history_change *largest = NULL;

	for (size_t i = 0; i < h->n_changes; i++) {
		const struct history_change *c = &h->change[i];

		if (c->creep && c->event == NO_GROUP &&
		    (!largest || amounts_of(c) > amounts_of(largest)))
			largest = c;
	}
	return largest;
}

static int group_creep(struct grouping *g)
{
	const struct history_change *largest;

	while ((largest = largest_free_creep(g->h))) {
		struct change whole = largest->change;

		if (new_group(g, whole.at, true))
			return -ENOMEM;
		g->group[g->n - 1].first = whole.first;
		g->group[g->n - 1].last = whole.last;
		for (size_t i = 0; i < g->h->n_changes; i++) {
			struct history_change *c = &g->h->change[i];

			if (c->creep && c->event == NO_GROUP && alike(&c->change, &whole)) {
				c->event = (uint32_t)(g->n - 1);
				g->group[g->n - 1].n++;
			}
		}
	}
	return 0;
}

static int newest_first(const void *a, const void *b, void *context)
{
	const struct group *group = context;
	size_t i = *(const size_t *)a, j = *(const size_t *)b;
	const struct group *x = &group[i], *y = &group[j];

	if (!x->n != !y->n)
		return x->n ? -1 : 1;
	if (x->at != y->at)
		return x->at > y->at ? -1 : 1;
	return i < j ? -1 : i > j;
}

/* Ranks the groups, the newest first and empty ones last. */
static int rank_groups(struct grouping *g)
{
	size_t *order = array_new(g->n, sizeof *order);

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < g->n; i++)
		order[i] = i;
	qsort_r(order, g->n, sizeof *order, newest_first, g->group);
	g->h->n_events = 0;
	for (size_t i = 0; i < g->n; i++) {
		g->group[order[i]].rank = i;
		g->h->n_events += g->group[order[i]].n > 0;
	}
	for (size_t i = 0; i < g->h->n_changes; i++)
		g->h->change[i].event = (uint32_t)g->group[g->h->change[i].event].rank;
	free(order);
	return 0;
}

static int class_of(const struct history_change *c)
{
	return c->task == TASK_HOST ? 0 : c->task == TASK_TOTAL ? 1 : c->task == TASK_SHARED ? 2 : 3;
}

static int by_contribution(const void *a, const void *b)
{
	const struct history_change *x = a, *y = b;
	double x_size = amounts_of(x), y_size = amounts_of(y);

	if (x->event != y->event)
		return x->event < y->event ? -1 : 1;
	if (class_of(x) != class_of(y))
		return class_of(x) - class_of(y);
	if (x_size != y_size)
		return x_size > y_size ? -1 : 1;
	if (x->task != y->task)
		return x->task < y->task ? -1 : 1;
	if (x->metric != y->metric)
		return x->metric < y->metric ? -1 : 1;
	return x->change.at < y->change.at ? -1 : x->change.at > y->change.at;
}

static void add_up(struct history *h, struct history_event *e)
{
	bool of_tasks[METRICS] = { false };
	const struct history_change *change = h->change + e->first_change;
	double most = 0;

	for (size_t i = 0; i < e->n_changes; i++) {
		const struct history_change *c = &change[i];

		if (c->task >= HISTORY_ALL)
			continue;
		of_tasks[c->metric] = true;
		e->contribution[c->metric] += c->change.after - c->change.before;
	}
	for (size_t i = 0; i < e->n_changes; i++) {
		const struct history_change *c = &change[i];

		if (c->task == TASK_TOTAL && !of_tasks[c->metric])
			e->contribution[c->metric] += c->change.after - c->change.before;
	}
	e->worse = change->change.after > change->change.before;
	for (enum metric m = 0; m < METRICS; m++) {
		if (amounts(e->contribution[m], m) <= most)
			continue;
		most = amounts(e->contribution[m], m);
		e->worse = e->contribution[m] > 0;
	}
}

/* Whether all tasks changed, or the machine did. */
static bool is_of_host(const struct history *h, const struct history_event *e,
		       const struct build *build)
{
	const struct history_change *change = h->change + e->first_change;

	for (size_t i = 0; i < e->n_changes; i++) {
		if (change[i].task == TASK_HOST)
			return true;
	}
	for (uint32_t i = e->first ? e->first : 1; !change->creep && i <= e->last; i++) {
		if (build[i].circumstances != build[i - 1].circumstances)
			return true;
	}
	return false;
}

static int make_events(struct grouping *g)
{
	struct history *h = g->h;

	h->event = array_new_zero(h->n_events, sizeof *h->event);
	if (!h->event)
		return -ENOMEM;
	qsort(h->change, h->n_changes, sizeof *h->change, by_contribution);
	for (size_t i = 0; i < g->n; i++) {
		const struct group *group = &g->group[i];

		if (group->n)
			h->event[group->rank] = (struct history_event){
				.at = group->at, .first = group->first, .last = group->last,
				.n_changes = group->n,
			};
	}
	for (size_t i = 0, first = 0; i < h->n_events; i++) {
		struct history_event *e = &h->event[i];

		e->first_change = first;
		first += e->n_changes;
		add_up(h, e);
		e->host = is_of_host(h, e, g->builds->build);
	}
	return 0;
}

int history_group(struct history *h, const struct builds *builds)
{
	struct grouping g = { .h = h, .builds = builds };
	int r = 0;

	if (!h->n_changes)
		return 0;
	for (size_t i = 0; i < h->n_changes; i++)
		h->change[i].event = NO_GROUP;
	g.score = array_new_zero(builds->n, sizeof *g.score);
	g.edge = array_new_zero(builds->n + 1, sizeof *g.edge);
	if (!g.score || !g.edge)
		r = -ENOMEM;
	if (!r)
		r = choose_builds(&g);
	if (!r) {
		assign(&g);
		add_strays(&g);
		r = group_creep(&g);
	}
	if (!r) {
		/* The interval of an event is the intersection of those that have its build. */
		for (size_t i = 0; i < h->n_changes; i++) {
			const struct history_change *c = &h->change[i];
			struct group *e = &g.group[c->event];

			if (c->creep || !covers(c, e->at))
				continue;
			e->first = MAX(c->change.first, e->first);
			e->last = MIN(c->change.last, e->last);
		}
		r = rank_groups(&g);
	}
	if (!r)
		r = make_events(&g);
	free_all(g.group, g.score, g.edge);
	return r;
}
