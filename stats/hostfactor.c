/* SPDX-License-Identifier: MIT */
#include "stats/hostfactor.h"

#include "base/array.h"
#include "base/minmax.h"
#include "stats/stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 3		/* levels of tasks, then of builds, alternately */
#define EVENT_SPREADS 3.5
#define EVENT_LEAST 0.02

struct member {
	size_t task, builds;
	double mean;
};

/* The tasks that count, and their values. */
struct members {
	struct member *member;
	size_t n_members, n;
	float *x;		/* x[member * n + build]: logarithms */
	double *level;		/* of a member */
	double *work;		/* one build of all members, or all builds of a member */
};

static bool is_time(float value)
{
	return value > 0 && isfinite(value);
}

/* The longest first. */
static int by_mean(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	if (x->mean != y->mean)
		return x->mean > y->mean ? -1 : 1;
	return x->task < y->task ? -1 : x->task > y->task;
}

static struct member member_of(const float *values, size_t n, size_t task)
{
	struct member m = { .task = task };

	for (size_t i = 0; i < n; i++) {
		float value = values[task * n + i];

		m.mean += is_time(value) ? value : 0;
		m.builds += is_time(value);
	}
	m.mean = m.builds ? m.mean / m.builds : 0;
	return m;
}

/* Keeps tasks that are in most builds and long enough; of these the longest. */
static void choose_members(struct members *c, size_t n_tasks, double floor)
{
	size_t most = 0, kept = 0;

	for (size_t i = 0; i < n_tasks; i++)
		most = MAX(c->member[i].builds, most);
	for (size_t i = 0; i < n_tasks; i++) {
		const struct member *m = &c->member[i];

		if (m->builds && m->builds >= most / 2 && m->mean >= floor)
			c->member[kept++] = *m;
	}
	qsort(c->member, kept, sizeof *c->member, by_mean);
	c->n_members = MIN(kept, HOSTFACTOR_TASKS);
}

static int gather(struct members *c, const float *values, size_t n_tasks, size_t n, double floor)
{
	size_t longest;

	*c = (struct members){ .n = n, .member = array_new(n_tasks, sizeof *c->member) };
	if (!c->member)
		return -ENOMEM;
	for (size_t i = 0; i < n_tasks; i++)
		c->member[i] = member_of(values, n, i);
	choose_members(c, n_tasks, floor);
	longest = MAX(c->n_members, n);
	c->x = array_new(c->n_members * n, sizeof *c->x);
	c->level = array_new_zero(c->n_members + 1, sizeof *c->level);
	c->work = array_new(longest, sizeof *c->work);
	if (!c->x || !c->level || !c->work)
		return -ENOMEM;
	for (size_t k = 0; k < c->n_members; k++) {
		const float *row = values + c->member[k].task * n;

		for (size_t i = 0; i < n; i++)
			c->x[k * n + i] = is_time(row[i]) ? logf(row[i]) : NAN;
	}
	return 0;
}

static void find_levels(struct members *c, const double *ln)
{
	for (size_t k = 0; k < c->n_members; k++) {
		const float *row = c->x + k * c->n;
		size_t known = 0;

		for (size_t i = 0; i < c->n; i++) {
			if (!isnan(row[i]))
				c->work[known++] = row[i] - ln[i];
		}
		c->level[k] = stats_median(c->work, known);
	}
}

/* NaN for a build with too few tasks. */
static double factor_of(struct members *c, size_t build)
{
	size_t known = 0;

	for (size_t k = 0; k < c->n_members; k++) {
		float x = c->x[k * c->n + build];

		if (!isnan(x))
			c->work[known++] = x - c->level[k];
	}
	return known < HOSTFACTOR_FEWEST ? NAN : stats_median(c->work, known);
}

static int find_factors(struct hostfactor *h, struct members *c)
{
	size_t known = 0;
	double most;

	h->ln = array_new_zero(h->n, sizeof *h->ln);
	h->event = array_new_zero(h->n, sizeof *h->event);
	if (!h->ln || !h->event)
		return -ENOMEM;
	if (c->n_members < HOSTFACTOR_FEWEST)
		return 0;
	for (int round = 0; round < ROUNDS; round++) {
		double usual;

		find_levels(c, h->ln);
		for (size_t i = 0; i < h->n; i++)
			h->ln[i] = factor_of(c, i);
		known = 0;
		for (size_t i = 0; i < h->n; i++) {
			if (!isnan(h->ln[i]))
				c->work[known++] = h->ln[i];
		}
		usual = stats_median(c->work, known);
		for (size_t i = 0; i < h->n; i++)
			h->ln[i] = isnan(h->ln[i]) ? 0 : h->ln[i] - usual;
	}
	memcpy(c->work, h->ln, h->n * sizeof *c->work);
	h->spread = stats_spread(c->work, h->n, 0);
	most = fmax(EVENT_SPREADS * h->spread, EVENT_LEAST);
	/* A build is compared with the others, so a few builds have no events. */
	for (size_t i = 0; i < h->n; i++)
		h->event[i] = known >= 5 && fabs(h->ln[i]) > most;
	return 0;
}

int hostfactor_find(struct hostfactor *h, const float *values, size_t n_tasks, size_t n,
		    double floor)
{
	struct members c;
	int r;

	*h = (struct hostfactor){ .n = n };
	r = gather(&c, values, n_tasks, n, floor);
	if (!r)
		r = find_factors(h, &c);
	free_all(c.member, c.x, c.level, c.work);
	return r;
}

void hostfactor_release(struct hostfactor *h)
{
	free_all(h->ln, h->event);
	*h = (struct hostfactor){ 0 };
}
