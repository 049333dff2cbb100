/* SPDX-License-Identifier: MIT */
#include "analyse/largest.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

struct work {
	const struct summary *s;
	const struct recording *rec;
	double *sum;	/* of the squared shares of the peak until each step of summary.memory_kb */
	double *weight;	/* of each task */
	uint32_t *kb;	/* of each task at the end */
	int64_t *last_us;	/* when that was sampled */
};

static double share(const struct work *w, size_t step)
{
	double part = (double)w->s->memory_kb.value[step] / (double)w->s->memory_peak_kb.value;

	return part * part;
}

/* The sum until a time; from: a step that is not after it. */
static double sum_until(const struct work *w, size_t from, int64_t time_us, size_t *step)
{
	const struct curve *all = &w->s->memory_kb;
	size_t i = curve_first_after(all->time_us, from, all->n, time_us);

	*step = i ? i - 1 : 0;
	return i ? w->sum[i - 1] + share(w, i - 1) * (double)(time_us - all->time_us[i - 1]) : 0;
}

static int64_t end_us(const struct work *w, uint32_t task)
{
	int64_t end = recording_task_end_us(w->rec, &w->rec->task[task]);

	return end > w->last_us[task] ? end : w->last_us[task] + 1;
}

/* A level counts from its sample until the next, and the last one until the task ends. */
static void weigh(struct work *w)
{
	const struct curve *all = &w->s->memory_kb;
	size_t step = 0, unused;

	for (size_t i = 1; i < all->n; i++)
		w->sum[i] = w->sum[i - 1] + share(w, i - 1) *
			    (double)(all->time_us[i] - all->time_us[i - 1]);
	for (size_t i = 0; i < w->rec->n_memory; i++) {
		const struct memory_change *m = &w->rec->memory[i];
		double by = (double)w->kb[m->task] - (double)m->kb;

		w->weight[m->task] += by * sum_until(w, step, m->time_ms * 1000, &step);
		w->kb[m->task] = m->kb;
		w->last_us[m->task] = m->time_ms * 1000;
	}
	for (uint32_t i = 0; i < w->rec->n_tasks; i++) {
		if (!task_ran(&w->rec->task[i]))
			w->weight[i] = 0;
		else if (w->kb[i])
			w->weight[i] += w->kb[i] * sum_until(w, 0, end_us(w, i), &unused);
	}
}

static bool is_chosen(const struct largest *l, uint32_t task)
{
	for (size_t i = 0; i < l->n; i++) {
		if (l->task[i] == task)
			return true;
	}
	return false;
}

static void choose(struct largest *l, const struct work *w)
{
	const struct summary *s = w->s;

	for (; l->n < LARGEST_SURE && l->n < s->n_peak_tasks; l->n++)
		l->task[l->n] = s->peak_task[l->n].task;
	while (l->n < LARGEST_MAX) {
		uint32_t best = NO_INDEX;

		for (uint32_t i = 0; i < w->rec->n_tasks; i++) {
			if (w->weight[i] > 0 && !is_chosen(l, i) &&
			    (best == NO_INDEX || w->weight[i] > w->weight[best]))
				best = i;
		}
		if (best == NO_INDEX)
			break;
		l->task[l->n++] = best;
	}
	for (size_t i = 1; i < l->n; i++) {
		for (size_t k = i; k && w->weight[l->task[k]] > w->weight[l->task[k - 1]]; k--) {
			uint32_t task = l->task[k];

			l->task[k] = l->task[k - 1];
			l->task[k - 1] = task;
		}
	}
}

static size_t which(const struct largest *l, uint32_t task)
{
	size_t i = 0;

	while (i < l->n && l->task[i] != task)
		i++;
	return i;
}

static int fill_curves(struct largest *l, const struct work *w)
{
	const struct recording *rec = w->rec;
	size_t changes[LARGEST_MAX + 1] = { 0 };

	for (size_t i = 0; i < rec->n_memory; i++)
		changes[which(l, rec->memory[i].task)]++;
	for (size_t i = 0; i < l->n; i++) {
		struct curve *c = &l->kb[i];

		c->time_us = malloc((changes[i] + 1) * sizeof *c->time_us);
		c->value = malloc((changes[i] + 1) * sizeof *c->value);
		if (!c->time_us || !c->value)
			return -ENOMEM;
	}
	for (size_t i = 0; i < rec->n_memory; i++) {
		const struct memory_change *m = &rec->memory[i];
		size_t at = which(l, m->task);

		if (at == l->n)
			continue;
		l->kb[at].time_us[l->kb[at].n] = m->time_ms * 1000;
		l->kb[at].value[l->kb[at].n++] = m->kb;
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
	struct work w = { .s = s, .rec = s->rec };
	int r = -ENOMEM;

	*l = (struct largest){ .n = 0 };
	if (s->memory_peak_kb.value <= 0)
		return 0;
	w.sum = calloc(s->memory_kb.n + 1, sizeof *w.sum);
	w.weight = calloc(n, sizeof *w.weight);
	w.kb = calloc(n, sizeof *w.kb);
	w.last_us = calloc(n, sizeof *w.last_us);
	if (w.sum && w.weight && w.kb && w.last_us) {
		weigh(&w);
		choose(l, &w);
		r = fill_curves(l, &w);
	}
	free(w.sum);
	free(w.weight);
	free(w.kb);
	free(w.last_us);
	return r;
}

void largest_release(struct largest *l)
{
	for (size_t i = 0; i < l->n; i++)
		curve_release(&l->kb[i]);
	l->n = 0;
}
