/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "recording/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * From samples of many tasks at once to a list task by task: those of a running
 * task are collected, and added to the list together when it has ended. If a task
 * continues after that, all following samples are listed in their order and sorted
 * at the end.
 */
struct run {
	uint32_t task;
	uint32_t era;
	size_t n, cap;
	struct task_usage *sample;
};

struct reader_runs {
	size_t n, n_open;
	struct run *run;	/* the open ones, then free ones */
	bool mixed;
	uint32_t *owner;	/* once mixed: the task of each in the list */
	uint32_t of_task[];	/* NEVER, OVER or the index of its run */
};

#define NEVER UINT32_MAX
#define OVER (UINT32_MAX - 1)

struct reader_runs *reader_runs_new(size_t n_tasks)
{
	struct reader_runs *runs = malloc(sizeof *runs + n_tasks * sizeof *runs->of_task);

	if (!runs)
		return NULL;
	*runs = (struct reader_runs){ 0 };
	memset(runs->of_task, 0xff, n_tasks * sizeof *runs->of_task);
	return runs;
}

void reader_runs_free(struct reader_runs *runs)
{
	for (size_t i = 0; runs && i < runs->n; i++)
		free(runs->run[i].sample);
	if (!runs)
		return;
	free(runs->run);
	free(runs->owner);
	free(runs);
}

static int list(struct reader *r, uint32_t task, const struct task_usage *u)
{
	struct recording *rec = r->rec;
	struct task_usage *grown = rec->n_usage < UINT32_MAX ?
		array_make_room(rec->usage, &r->usage_cap, rec->n_usage, sizeof *grown) : NULL;
	uint32_t *owner;

	if (!grown)
		return -ENOMEM;
	rec->usage = grown;
	grown[rec->n_usage] = *u;
	if (r->runs->mixed) {
		owner = array_grow(r->runs->owner, rec->n_usage, sizeof *owner);
		if (!owner)
			return -ENOMEM;
		r->runs->owner = owner;
		owner[rec->n_usage] = task;
	}
	rec->n_usage++;
	return 0;
}

static int open_run(struct reader_runs *runs, uint32_t task)
{
	struct run *grown;

	if (runs->n_open == runs->n) {
		grown = array_grow(runs->run, runs->n, sizeof *grown);
		if (!grown)
			return -ENOMEM;
		runs->run = grown;
		grown[runs->n++] = (struct run){ 0 };
	}
	runs->run[runs->n_open].task = task;
	runs->run[runs->n_open].n = 0;
	runs->of_task[task] = (uint32_t)runs->n_open++;
	return 0;
}

/* The samples of a run into the list. The newest comes behind them, for it stays
 * as it is unless the task comes back. */
static int close_run(struct reader *r, uint32_t at, bool with_newest)
{
	struct reader_runs *runs = r->runs;
	struct run closed = runs->run[at];
	const struct task_usage *newest = &r->newest[closed.task];

	r->rec->task[closed.task].first_usage = (uint32_t)r->rec->n_usage;
	for (size_t i = 0; i < closed.n; i++) {
		if (list(r, closed.task, &closed.sample[i]))
			return -ENOMEM;
	}
	if (with_newest && newest->time_ms >= 0 && list(r, closed.task, newest))
		return -ENOMEM;
	runs->of_task[closed.task] = OVER;
	runs->n_open--;
	runs->run[at] = runs->run[runs->n_open];
	runs->run[runs->n_open] = closed;
	if (at < runs->n_open)
		runs->of_task[runs->run[at].task] = at;
	return 0;
}

static int close_all(struct reader *r, bool with_newest)
{
	while (r->runs->n_open) {
		if (close_run(r, (uint32_t)r->runs->n_open - 1, with_newest))
			return -ENOMEM;
	}
	return 0;
}

/* Of those in the list, task by task; NO_INDEX for the newest ones, which are not
 * settled. */
static int find_owners(struct reader *r)
{
	const struct recording *rec = r->rec;
	size_t cap = ARRAY_FIRST;
	uint32_t *owner;

	while (cap < rec->n_usage)
		cap *= 2;
	owner = malloc(cap * sizeof *owner);
	if (!owner)
		return -ENOMEM;
	memset(owner, 0xff, cap * sizeof *owner);
	for (uint32_t i = 0; i < rec->n_tasks; i++) {
		const struct task *t = &rec->task[i];

		for (size_t k = 0; k < t->n_usage && r->runs->of_task[i] == OVER; k++)
			owner[t->first_usage + k] = i;
	}
	r->runs->owner = owner;
	return 0;
}

/* A task came back: the newest of those that were over are taken out again. */
static int mix(struct reader *r)
{
	struct recording *rec = r->rec;
	uint32_t *owner;
	size_t n = 0;

	if (find_owners(r))
		return -ENOMEM;
	owner = r->runs->owner;
	for (size_t i = 0; i < rec->n_usage; i++) {
		if (owner[i] == NO_INDEX)
			continue;
		owner[n] = owner[i];
		rec->usage[n++] = rec->usage[i];
	}
	rec->n_usage = n;
	r->runs->mixed = true;
	return close_all(r, false);
}

int reader_runs_touch(struct reader *r, uint32_t task, uint32_t era)
{
	struct reader_runs *runs = r->runs;

	if (runs->mixed)
		return 0;
	if (runs->of_task[task] == OVER)
		return mix(r);
	if (runs->of_task[task] == NEVER && open_run(runs, task))
		return -ENOMEM;
	runs->run[runs->of_task[task]].era = era;
	return 0;
}

/* Runs are used again, so what they had room for counts. */
static int grow(struct run *run)
{
	size_t cap = 2 * run->cap + ARRAY_FIRST;
	struct task_usage *grown = realloc(run->sample, cap * sizeof *grown);

	if (!grown)
		return -ENOMEM;
	run->sample = grown;
	run->cap = cap;
	return 0;
}

int reader_runs_add(struct reader *r, uint32_t task)
{
	const struct task_usage *u = &r->newest[task];
	struct reader_runs *runs = r->runs;
	struct run *run;

	if (!runs->mixed && runs->of_task[task] == OVER && mix(r))
		return -ENOMEM;
	if (runs->mixed)
		return list(r, task, u);
	run = &runs->run[runs->of_task[task]];
	if (run->n == run->cap && grow(run))
		return -ENOMEM;
	run->sample[run->n++] = *u;
	return 0;
}

int reader_runs_end(struct reader *r, uint32_t task)
{
	uint32_t at = r->runs->mixed ? NEVER : r->runs->of_task[task];

	return at < OVER ? close_run(r, at, true) : 0;
}

int reader_runs_forget(struct reader *r, uint32_t era)
{
	struct reader_runs *runs = r->runs;

	for (size_t i = runs->mixed ? 0 : runs->n_open; i-- > 0;) {
		if (runs->run[i].era != era && close_run(r, (uint32_t)i, true))
			return -ENOMEM;
	}
	return 0;
}

int reader_runs_finish(struct reader *r)
{
	struct recording *rec = r->rec;

	if (!r->runs->mixed)
		return close_all(r, true);
	for (uint32_t i = 0; i < rec->n_tasks; i++) {
		if (r->newest[i].time_ms >= 0 && list(r, i, &r->newest[i]))
			return -ENOMEM;
	}
	return 0;
}

int reader_runs_sort(struct reader *r)
{
	struct recording *rec = r->rec;
	struct task_usage *sorted;
	uint32_t at = 0;

	if (!r->runs->mixed)
		return 0;
	sorted = malloc((rec->n_usage + 1) * sizeof *sorted);
	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < rec->n_tasks; i++) {
		rec->task[i].first_usage = at;
		at += rec->task[i].n_usage;
		rec->task[i].n_usage = 0;
	}
	for (size_t i = 0; i < rec->n_usage; i++) {
		struct task *t = &rec->task[r->runs->owner[i]];

		sorted[t->first_usage + t->n_usage++] = rec->usage[i];
	}
	free(rec->usage);
	rec->usage = sorted;
	return 0;
}
