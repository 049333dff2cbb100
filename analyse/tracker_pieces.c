/* SPDX-License-Identifier: MIT */
#include "analyse/tracker_parts.h"
#include "analyse/used.h"
#include "base/array.h"
#include "recording/column.h"

#include <errno.h>
#include <stdlib.h>

/* The points in time where no samples were taken. */
#define GRID_POINTS 200

static int add(struct tracker_pieces *p, int64_t from_us, int64_t until_us, double level,
	       uint32_t task)
{
	struct tracker_piece *added;

	if (from_us >= until_us || level <= 0)
		return 0;
	added = array_add(&p->piece, &p->n, sizeof *added);
	if (!added)
		return -ENOMEM;
	*added = (struct tracker_piece){ from_us, until_us, level, task };
	return 0;
}

static int add_running(struct tracker_pieces *p, const struct summary *s)
{
	int r = 0;

	for (size_t i = 0; !r && i < s->n_ran; i++) {
		const struct task *t = &s->rec->task[s->order[i]];

		if (!t->hosts)
			r = add(p, t->start_us, recording_task_end_us(s->rec, t), 1, s->order[i]);
	}
	p->known = true;
	return r;
}

static int add_waiting(struct tracker_pieces *p, const struct summary *s, const struct waits *q)
{
	int r = 0;

	for (size_t i = 0; !r && i < s->n_ran; i++) {
		uint32_t task = s->order[i];
		int64_t wait_us = wait_queue_us(q, s->rec, task);

		p->known |= wait_us >= 0;
		if (wait_us > WAIT_REACTION_US)
			r = add(p, q->task[task].ready_us, q->task[task].ready_us + wait_us, 1, task);
	}
	return r;
}

/* As curve_task_memory(): what a task had last, it has until its end. */
static int add_memory(struct tracker_pieces *p, const struct recording *rec)
{
	struct memory_change *last = calloc(rec->n_tasks + 1, sizeof *last);
	int r = last ? 0 : -ENOMEM;

	for (size_t i = 0; !r && i < rec->n_memory; i++) {
		const struct memory_change *m = &rec->memory[i];
		struct memory_change *before = &last[m->task];

		if (!task_ran(&rec->task[m->task]))
			continue;
		r = add(p, before->time_ms * 1000, m->time_ms * 1000, before->kb, m->task);
		*before = *m;
	}
	for (uint32_t i = 0; !r && i < rec->n_tasks; i++) {
		int64_t end_us, last_us = last[i].time_ms * 1000;

		if (!last[i].kb)
			continue;
		end_us = recording_task_end_us(rec, &rec->task[i]);
		r = add(p, last_us, end_us > last_us ? end_us : last_us + 1, last[i].kb, i);
	}
	p->known = rec->n_memory > 0;
	free(last);
	return r;
}

/* When samples were taken: what tasks used is known then. */
static int64_t *make_times(size_t *n, const struct summary *s, const char *name)
{
	const struct series *series = recording_series(s->rec, name);
	int64_t *time_us;

	if (!series || series->n < 2)
		series = recording_series(s->rec, "proc_stat");
	*n = series && series->n > 1 ? series->n : GRID_POINTS + 1;
	time_us = malloc(*n * sizeof *time_us);
	for (size_t i = 0; time_us && i < *n; i++)
		time_us[i] = series && series->n > 1 ? series->time_ms[i] * 1000 :
			     s->wall_us / GRID_POINTS * (int64_t)i + (int64_t)i;
	return time_us;
}

static int add_used(struct tracker_pieces *p, const struct summary *s, enum used_what what)
{
	struct used_pieces used = USED_PIECES_INIT;
	size_t n;
	int64_t *time_us = make_times(&n, s, what == USED_CPU ? "proc_stat" : "proc_diskstats");
	int r = time_us ? used_pieces_make(&used, s, what, time_us, n) : -ENOMEM;

	for (size_t i = 0; !r && i < used.n; i++) {
		const struct used_piece *u = &used.piece[i];

		r = add(p, u->from_us, u->until_us,
			u->amount / (double)(u->until_us - u->from_us), u->task);
	}
	p->known = used.n > 0;
	used_pieces_release(&used);
	free(time_us);
	return r;
}

int tracker_pieces_make(struct tracker_pieces *p, const struct tracker *t,
			enum tracker_metric metric)
{
	int r = 0;

	switch (metric) {
	case TRACKER_RUNNING:
		r = add_running(p, t->s);
		break;
	case TRACKER_WAITING:
		r = add_waiting(p, t->s, t->q);
		break;
	case TRACKER_MEMORY:
		r = add_memory(p, t->s->rec);
		break;
	case TRACKER_CPU:
		r = add_used(p, t->s, USED_CPU);
		break;
	case TRACKER_READ:
		r = add_used(p, t->s, USED_READ);
		break;
	case TRACKER_WRITTEN:
		r = add_used(p, t->s, USED_WRITTEN);
		break;
	case TRACKER_METRICS:
		break;
	}
	p->made = !r;
	return r;
}

int tracker_pieces_overhead(struct tracker_pieces *p, const struct tracker *t,
			    enum tracker_metric metric)
{
	const char *name = metric == TRACKER_CPU ? "cpu" : "memory";
	struct column c;
	int r = 0;

	p->made = true;
	if ((metric != TRACKER_CPU && metric != TRACKER_MEMORY) ||
	    !column_find(&c, t->s->rec, "proc_own", name))
		return 0;
	for (size_t i = 1; !r && i < c.series->n; i++) {
		int64_t from_us = c.series->time_ms[i - 1] * 1000;
		int64_t until_us = c.series->time_ms[i] * 1000;
		int64_t level = column_level(&c, i);

		r = add(p, from_us, until_us, metric == TRACKER_MEMORY ? (double)level / 1024 :
			(double)column_between(&c, i - 1, i) / (double)(until_us - from_us),
			NO_INDEX);
	}
	p->made = !r;
	return r;
}
