/* SPDX-License-Identifier: MIT */
#include "compare/remaining_parts.h"

#include "base/minmax.h"
#include "base/search.h"

#include <math.h>

#define RECENCY 8.0		/* builds, until one counts e times less */
#define FRONT 0.9		/* this share of the tasks defines how far a build has come */
#define LEAST_LIKE 0.02

/* Durations of a task in an earlier build; otherwise the usual one. */
static double took(const struct remaining *r, size_t b, uint32_t task)
{
	float us = r->build[b].took_us[task];

	return isnan(us) ? r->usual_us[task] : us;
}

static void advance(struct remaining_progress *p, int64_t elapsed_us)
{
	const struct remaining_list *l = p->list;
	const struct remaining *r = p->r;

	for (; p->n_started < l->n && l->start_us[p->n_started] <= elapsed_us; p->n_started++) {
		uint32_t task = l->task[p->n_started];

		p->n_new += task == REMAINING_NEW;
		for (size_t b = 0; task != REMAINING_NEW && b < r->n_builds; b++) {
			if (isnan(r->build[b].took_us[task]))
				continue;
			p->common[b]++;
			p->in_bin[b][r->build[b].bin[task]]++;
		}
	}
	for (; p->n_ended < l->n && l->end_us[l->by_end[p->n_ended]] <= elapsed_us; p->n_ended++) {
		size_t i = l->by_end[p->n_ended];
		uint32_t task = l->task[i];

		p->busy_us = l->end_us[i];
		if (task != REMAINING_NEW)
			p->ran_us += (double)(l->end_us[i] - l->start_us[i]);
		for (size_t b = 0; task != REMAINING_NEW && b < r->n_builds; b++)
			p->work_us[b] += took(r, b, task);
	}
}

/* Shorter times say nothing about the pace. */
static double grain_of(const struct remaining_build *b)
{
	return 0.01 * (double)b->wall_us + 5e4;
}

/* What the tasks so far say, by the durations of one earlier build. */
struct so_far {
	double work_us;		/* done */
	double ran_us, usual_us;	/* of those that ended or are late: what they took, and had taken */
	double rest_us;		/* of the running task that needs the most */
};

/* With those that run. Returns how long one of them has run beyond its longest earlier run. */
static double add_running(struct so_far so_far[REMAINING_BUILDS], const struct remaining_progress *p,
			  int64_t elapsed_us)
{
	double overrun_us = 0, slower[REMAINING_BUILDS];
	const struct remaining_list *l = p->list;
	const struct remaining *r = p->r;
	size_t left = p->n_started - p->n_ended;

	for (size_t b = 0; b < r->n_builds; b++) {
		double grain = grain_of(&r->build[b]);

		so_far[b] = (struct so_far){ p->work_us[b], p->ran_us, p->work_us[b], 0 };
		/* those that run are slower too, but the first few tasks say little: the half of it */
		slower[b] = sqrt((p->ran_us + grain) / (p->work_us[b] + grain));
	}
	/* those that run are mostly among the newest */
	for (size_t i = p->n_started; left && i-- > 0;) {
		uint32_t task = l->task[i];
		double age = (double)(elapsed_us - l->start_us[i]), longest = 0;

		if (l->end_us[i] <= elapsed_us)
			continue;
		left--;
		for (size_t b = 0; task != REMAINING_NEW && b < r->n_builds; b++) {
			double us = took(r, b, task), done_us = age / slower[b];

			so_far[b].work_us += fmin(done_us, us);
			so_far[b].rest_us = fmax(so_far[b].rest_us, us - done_us);
			if (age > us) {
				so_far[b].ran_us += age;
				so_far[b].usual_us += us;
			}
			longest = fmax(longest, us);
		}
		if (longest > 0)
			overrun_us = fmax(overrun_us, age - longest);
	}
	return overrun_us;
}

/* The time at which an earlier build had done this work. While no task runs, time itself counts. */
static double time_of_work(const struct remaining_build *b, double work_us, double idle_us)
{
	double bin_us = (double)b->wall_us / REMAINING_BINS, slack = b->work_us[REMAINING_BINS] * 1e-6;
	double from, to;
	struct search_range bin = search_all(REMAINING_BINS);
	size_t last;

	/* the first bin at whose end there is as much */
	while (search_next(&bin))
		search_past(&bin, b->work_us[bin.at + 1] + slack < work_us);
	if (bin.at == REMAINING_BINS)
		return (double)b->wall_us;
	from = (double)bin.at * bin_us;
	if (b->work_us[bin.at + 1] > b->work_us[bin.at])
		from += bin_us * fmin(1, fmax(0, work_us - b->work_us[bin.at]) /
				      (b->work_us[bin.at + 1] - b->work_us[bin.at]));
	for (last = bin.at; last < REMAINING_BINS && b->work_us[last + 1] <= work_us + slack;)
		last++;
	to = fmax(from, (double)last * bin_us);
	return fmin(from + idle_us, to);
}

/* Up to which bin the common tasks of this build have come; those of them up to it. */
static size_t front_of(const struct remaining_progress *p, size_t b, uint32_t *common)
{
	uint32_t need = (uint32_t)ceil(FRONT * p->common[b]);
	size_t bin = 0;

	*common = p->in_bin[b][0];
	while (*common < need)
		*common += p->in_bin[b][++bin];
	return bin;
}

static void look_at(struct remaining_view *v, const struct remaining_progress *p, size_t b,
		    const struct so_far *so_far, int64_t elapsed_us)
{
	const struct remaining_build *e = &p->r->build[b];
	bool runs = p->n_started > p->n_ended;
	double idle = runs ? 0 : (double)(elapsed_us - p->busy_us), wall = (double)e->wall_us;
	double new = p->n_started ? (double)p->n_new / (double)p->n_started : 0;
	double place = time_of_work(e, so_far->work_us, idle), skip_left, ran, grain = grain_of(e);
	uint32_t until, missed;
	size_t front = front_of(p, b, &until);

	/* nothing is known about the work of new tasks */
	place += new * fmax(0, fmin((double)elapsed_us, wall) - place);

	missed = e->started[front] - until;
	v->like[b] = (p->common[b] + 0.5) / ((double)p->n_started + missed + 0.5);
	if (!p->n_started)
		v->like[b] = 1;
	ran = p->common[b] ? (double)until / e->started[front] : 1;
	v->whole[b] = fmin(1, fmax(0, (ran - 0.5) / 0.3));
	skip_left = fmax(0, wall - (double)(front + 1) * wall / REMAINING_BINS) * ran;
	/* what runs is not skipped */
	skip_left = fmax(skip_left, so_far->rest_us);
	v->left_us[b] = v->whole[b] * fmax(0, wall - place) + (1 - v->whole[b]) * skip_left;
	/* where tasks are skipped, the place says nothing about the pace, but each task does */
	v->ln_pace[b] = v->whole[b] * log(((double)elapsed_us + grain) / (place + grain)) +
		(1 - v->whole[b]) * log((so_far->ran_us + grain) / (so_far->usual_us + grain));
}

void remaining_look(struct remaining_view *v, struct remaining_progress *p, int64_t elapsed_us,
		    size_t until, size_t except)
{
	const struct remaining *r = p->r;
	struct so_far so_far[REMAINING_BUILDS];
	double sum = 0;

	advance(p, elapsed_us);
	*v = (struct remaining_view){ .late = true };
	v->overrun_us = add_running(so_far, p, elapsed_us);
	for (size_t b = 0; b < until; b++) {
		double like;

		if (b == except)
			continue;
		look_at(v, p, b, &so_far[b], elapsed_us);
		like = v->like[b] * v->like[b];
		v->weight[b] = (LEAST_LIKE + like * like) *
			       exp(-fabs((double)MIN(except, until) - (double)b) / RECENCY);
		/* it would have ended, unless this build is at the end of the same work */
		if (v->left_us[b] <= 0 && v->like[b] < 0.7)
			v->weight[b] *= 0.01;
		if (v->left_us[b] > 0)
			v->late = false;
		sum += v->weight[b];
	}
	for (size_t b = 0; b < until; b++) {
		v->weight[b] /= sum;
		v->pace += v->weight[b] * v->ln_pace[b];
		v->typical_us += v->weight[b] * (double)r->build[b].wall_us;
	}
}

double remaining_left(const struct remaining_view *v, double lasts)
{
	double grain = 0.01 * v->typical_us + 1e4, ln = 0;

	for (size_t b = 0; b < REMAINING_BUILDS; b++) {
		if (v->weight[b] > 0)
			ln += v->weight[b] * log(v->left_us[b] * exp(lasts * v->ln_pace[b]) +
						 grain);
	}
	return fmax(0, exp(ln) - grain);
}
