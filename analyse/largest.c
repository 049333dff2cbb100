/* SPDX-License-Identifier: MIT */
#include "analyse/largest.h"

#include "base/array.h"
#include "base/minmax.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

struct work {
	const struct summary *s;
	const struct recording *rec;
	size_t at;	/* the next step of summary.memory_kb */
	double part;	/* 1 / the peak */
	double share, from, until;	/* that before, squared; the sum of such shares and times until
					   it began, and ends */
	int64_t from_us;
	double *weight;	/* of each task */
	uint32_t *kb;	/* of each task at the end */
	int64_t *last_us;	/* when that was sampled */
};

/* The sum until a time, that of the last call or later. */
static double sum_until(struct work *w, int64_t time_us)
{
	const struct curve *all = &w->s->memory_kb;

	while (w->at < all->n && all->time_us[w->at] <= time_us) {
		int64_t next_us = w->at + 1 < all->n ? all->time_us[w->at + 1] : INT64_MAX;
		double share = (double)all->value[w->at] * w->part;

		w->share = share * share;
		w->from_us = all->time_us[w->at];
		w->from = w->until;
		if (next_us == INT64_MAX)
			next_us = w->from_us;
		w->until = w->from + w->share * (double)(next_us - w->from_us);
		w->at++;
	}
	return w->from + w->share * (double)(time_us - w->from_us);
}

/* What a task has until its end; a later sample shows that it ended after that. */
static int64_t end_us(const struct work *w, uint32_t task)
{
	int64_t end = recording_task_end_us(w->rec, &w->rec->task[task]);

	return end > w->last_us[task] ? end : w->last_us[task] + 1;
}

/* A level counts from its sample until the next, and the last one until the task ends. */
static void weigh(struct work *w)
{
	for (size_t i = 0; i < w->rec->n_memory; i++) {
		const struct memory_change *m = &w->rec->memory[i];
		double by = (double)w->kb[m->task] - (double)m->kb;

		w->weight[m->task] += by * sum_until(w, m->time_ms * 1000);
		w->kb[m->task] = m->kb;
		w->last_us[m->task] = m->time_ms * 1000;
	}
	w->at = 0;
	w->share = w->from = w->until = 0;
	w->from_us = 0;
	for (size_t i = 0; i < w->s->n_ran; i++) {
		uint32_t task = w->s->by_end[i];

		if (w->kb[task])
			w->weight[task] += w->kb[task] * sum_until(w, end_us(w, task));
	}
}

/* Insert it, the one with most first; of more than `most` the last one goes. */
static void insert(struct largest *l, const struct work *w, uint32_t task, size_t most)
{
	size_t at = l->n;

	for (; at && w->weight[l->task[at - 1]] < w->weight[task]; at--) {
		if (at < most)
			l->task[at] = l->task[at - 1];
	}
	if (at == most)
		return;
	l->task[at] = task;
	l->n += l->n < most;
}

static bool is_sure(const struct summary *s, size_t n, uint32_t task)
{
	for (size_t i = 0; i < n; i++) {
		if (s->peak_task[i].task == task)
			return true;
	}
	return false;
}

static void choose_tasks(struct largest *l, const struct work *w)
{
	const struct summary *s = w->s;
	size_t n_sure = MIN(s->n_peak_tasks, LARGEST_SURE);
	size_t most = LARGEST_MAX - n_sure;
	double least = 0;

	for (size_t i = 0; i < s->n_ran; i++) {
		uint32_t task = s->order[i];

		if (w->weight[task] <= least || is_sure(s, n_sure, task))
			continue;
		insert(l, w, task, most);
		if (l->n == most)
			least = w->weight[l->task[most - 1]];
	}
	for (size_t i = 0; i < n_sure; i++)
		insert(l, w, s->peak_task[i].task, LARGEST_MAX);
}

/* place: room for a number of each task, all 0. */
static int fill_curves(struct largest *l, const struct work *w, uint8_t *place)
{
	const struct recording *rec = w->rec;
	size_t changes[LARGEST_MAX + 1] = { 0 };

	for (size_t i = 0; i < l->n; i++)
		place[l->task[i]] = (uint8_t)(i + 1);
	for (size_t i = 0; i < rec->n_memory; i++)
		changes[place[rec->memory[i].task]]++;
	for (size_t i = 0; i < l->n; i++) {
		struct curve *c = &l->kb[i];

		c->time_us = array_new(changes[i + 1] + 1, sizeof *c->time_us);
		c->value = array_new(changes[i + 1] + 1, sizeof *c->value);
		if (!c->time_us || !c->value)
			return -ENOMEM;
	}
	for (size_t i = 0; i < rec->n_memory; i++) {
		const struct memory_change *m = &rec->memory[i];
		struct curve *c;

		if (!place[m->task])
			continue;
		c = &l->kb[place[m->task] - 1];
		c->time_us[c->n] = m->time_ms * 1000;
		c->value[c->n++] = m->kb;
	}
	for (size_t i = 0; i < l->n; i++) {
		struct curve *c = &l->kb[i];

		c->time_us[c->n] = end_us(w, l->task[i]);
		c->value[c->n++] = 0;
	}
	return 0;
}

int largest_make(struct largest *l, const struct summary *s)
{
	size_t n = s->rec->n_tasks + 1;
	struct work w = { .s = s, .rec = s->rec, .part = 1 / (double)s->memory_peak_kb.value };
	uint8_t *place;
	int r = -ENOMEM;

	*l = (struct largest){ .n = 0 };
	if (s->memory_peak_kb.value <= 0)
		return 0;
	w.weight = calloc(n, sizeof *w.weight);
	w.kb = calloc(n, sizeof *w.kb);
	w.last_us = calloc(n, sizeof *w.last_us);
	place = calloc(n, 1);
	if (place && w.weight && w.kb && w.last_us) {
		weigh(&w);
		choose_tasks(l, &w);
		r = fill_curves(l, &w, place);
	}
	free_all(place, w.weight, w.kb, w.last_us);
	return r;
}

void largest_release(struct largest *l)
{
	for (size_t i = 0; i < l->n; i++)
		curve_release(&l->kb[i]);
	l->n = 0;
}
