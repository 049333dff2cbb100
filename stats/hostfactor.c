/* SPDX-License-Identifier: MIT */
#include "stats/hostfactor.h"

#include "stats/stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 3		/* of levels by tasks and by builds in turn */
#define EVENT_SPREADS 3.5
#define EVENT_LEAST 0.02

struct member {
	size_t task, builds;
	double mean;
};

/* The tasks that have a say, and their values. */
struct crowd {
	struct member *member;
	size_t n_members, n;
	float *x;		/* x[member * n + build]: logarithms */
	double *level;		/* of a member */
	double *work;		/* room for a build of members, or a member's builds */
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

static struct member look_at(const float *values, size_t n, size_t task)
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

/* Those there as a rule, if they are long enough; the longest of them. */
static void choose(struct crowd *c, size_t n_tasks, double floor)
{
	size_t most = 0, kept = 0;

	for (size_t i = 0; i < n_tasks; i++)
		most = c->member[i].builds > most ? c->member[i].builds : most;
	for (size_t i = 0; i < n_tasks; i++) {
		const struct member *m = &c->member[i];

		if (m->builds && m->builds >= most / 2 && m->mean >= floor)
			c->member[kept++] = *m;
	}
	qsort(c->member, kept, sizeof *c->member, by_mean);
	c->n_members = kept < HOSTFACTOR_TASKS ? kept : HOSTFACTOR_TASKS;
}

static int gather(struct crowd *c, const float *values, size_t n_tasks, size_t n, double floor)
{
	size_t longest;

	*c = (struct crowd){ .n = n, .member = malloc((n_tasks + 1) * sizeof *c->member) };
	if (!c->member)
		return -ENOMEM;
	for (size_t i = 0; i < n_tasks; i++)
		c->member[i] = look_at(values, n, i);
	choose(c, n_tasks, floor);
	longest = c->n_members > n ? c->n_members : n;
	c->x = malloc((c->n_members * n + 1) * sizeof *c->x);
	c->level = calloc(c->n_members + 1, sizeof *c->level);
	c->work = malloc((longest + 1) * sizeof *c->work);
	if (!c->x || !c->level || !c->work)
		return -ENOMEM;
	for (size_t k = 0; k < c->n_members; k++) {
		const float *row = values + c->member[k].task * n;

		for (size_t i = 0; i < n; i++)
			c->x[k * n + i] = is_time(row[i]) ? logf(row[i]) : NAN;
	}
	return 0;
}

static void crowd_release(struct crowd *c)
{
	free(c->member);
	free(c->x);
	free(c->level);
	free(c->work);
}

static void find_levels(struct crowd *c, const double *ln)
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

/* NaN for a build of too few. */
static double factor_of(struct crowd *c, size_t build)
{
	size_t known = 0;

	for (size_t k = 0; k < c->n_members; k++) {
		float x = c->x[k * c->n + build];

		if (!isnan(x))
			c->work[known++] = x - c->level[k];
	}
	return known < HOSTFACTOR_FEWEST ? NAN : stats_median(c->work, known);
}

/* Around that of the usual build, which becomes 0. How many are known. */
static size_t centre(struct hostfactor *h, double *work)
{
	size_t known = 0;
	double usual;

	for (size_t i = 0; i < h->n; i++) {
		if (!isnan(h->ln[i]))
			work[known++] = h->ln[i];
	}
	usual = stats_median(work, known);
	for (size_t i = 0; i < h->n; i++)
		h->ln[i] = isnan(h->ln[i]) ? 0 : h->ln[i] - usual;
	return known;
}

/* What a build's factor is held against is that of the others: a few builds say nothing. */
static void find_events(struct hostfactor *h, size_t known, double *work)
{
	double most;

	memcpy(work, h->ln, h->n * sizeof *work);
	h->spread = stats_spread(work, h->n, 0);
	most = fmax(EVENT_SPREADS * h->spread, EVENT_LEAST);
	for (size_t i = 0; i < h->n; i++)
		h->event[i] = known >= 5 && fabs(h->ln[i]) > most;
}

static int find(struct hostfactor *h, struct crowd *c)
{
	size_t known = 0;

	h->ln = calloc(h->n + 1, sizeof *h->ln);
	h->event = calloc(h->n + 1, sizeof *h->event);
	if (!h->ln || !h->event)
		return -ENOMEM;
	if (c->n_members < HOSTFACTOR_FEWEST)
		return 0;
	for (int round = 0; round < ROUNDS; round++) {
		find_levels(c, h->ln);
		for (size_t i = 0; i < h->n; i++)
			h->ln[i] = factor_of(c, i);
		known = centre(h, c->work);
	}
	find_events(h, known, c->work);
	return 0;
}

int hostfactor_find(struct hostfactor *h, const float *values, size_t n_tasks, size_t n,
		    double floor)
{
	struct crowd c;
	int r;

	*h = (struct hostfactor){ .n = n };
	r = gather(&c, values, n_tasks, n, floor);
	if (!r)
		r = find(h, &c);
	crowd_release(&c);
	return r;
}

void hostfactor_release(struct hostfactor *h)
{
	free(h->ln);
	free(h->event);
	*h = (struct hostfactor){ 0 };
}
