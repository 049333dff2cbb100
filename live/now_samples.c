/* SPDX-License-Identifier: MIT */
#include "live/now_state.h"

#include "base/array.h"
#include "base/minmax.h"
#include "base/str.h"
#include "recording/column.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * A sample has values of several files, each of which is delivered on its own, and has a line only
 * if a value changed. proc_stat changes at every sample, so it says when the samples were. The others
 * wait for it.
 */
#define PARTS_MAX 250000
#define LATE_MS 100		/* the files of a sample are written one after the other */

static int add_part(struct now_parts *p, int64_t time_ms, int64_t a, int64_t b)
{
	struct now_part *added;

	p->seen = true;
	if (p->n && p->part[p->n - 1].time_ms >= time_ms) {	/* the last one again */
		p->part[p->n - 1].value[0] = a;
		p->part[p->n - 1].value[1] = b;
		return 0;
	}
	if (p->n == PARTS_MAX)
		return 0;
	added = array_add(&p->part, &p->n, sizeof *added);
	if (!added)
		return -ENOMEM;
	*added = (struct now_part){ time_ms, { a, b } };
	return 0;
}

/* The sum of the columns with a name, in base units; counters: as a rate per second. -1: none. */
static int64_t sum_of(const struct growing_sample *s, const char *name)
{
	const char *tail = *name == '*' ? name + 1 : NULL;
	double sum = 0, value;
	bool any = false;

	for (size_t i = 0; i < s->n_columns; i++) {
		const struct series_column *c = &s->column[i];

		if ((tail ? !str_ends(c->name, tail) : strcmp(c->name, name) != 0) ||
		    !growing_value(s, i, &value))
			continue;
		sum += value * (double)column_unit_scale(c->unit);
		any = true;
	}
	return !any ? -1 : sum < 0 ? 0 : sum > 1e18 ? INT64_MAX : (int64_t)(sum + 0.5);
}

static int64_t kb(int64_t bytes)
{
	return bytes < 0 ? -1 : bytes / 1024;
}

static int64_t known(int64_t n)
{
	return MAX(n, 0);
}

/* As analyse/host.c: what is neither idle, nor waiting, nor taken away. */
static int take_cpu(struct now *n, const struct growing_sample *s)
{
	int64_t us = sum_of(s, "user"), permille = -1, load = -1;

	for (size_t i = 0; i < s->n_columns; i++) {
		if (!strcmp(s->column[i].name, "load") && s->level[i] != SERIES_ABSENT)
			load = s->level[i];
	}
	if (us >= 0 && n->cores > 0) {
		us += known(sum_of(s, "nice")) + known(sum_of(s, "system")) + known(sum_of(s, "irq"));
		permille = us / 1000 / n->cores;
		permille = MIN(1000, permille);
	}
	return add_part(&n->private->cpu, s->time_ms, permille, load);
}

/* OpenEmbedded does not record what is available: nearly all but free, buffers, cache. */
static int64_t available(const struct growing_sample *s)
{
	int64_t all = sum_of(s, "available");

	if (all >= 0)
		return all;
	all = sum_of(s, "free");
	return all < 0 ? -1 : all + known(sum_of(s, "buffers")) + known(sum_of(s, "cached"));
}

int now_take_sample(struct now *n, const struct growing_sample *s)
{
	struct now_private *p = n->private;

	if (s->time_ms * 1000 > n->last_us)
		n->last_us = s->time_ms * 1000;
	if (!strcmp(s->series, "proc_stat"))
		return take_cpu(n, s);
	if (!strcmp(s->series, "proc_meminfo"))
		return add_part(&p->parts[NOW_MEMORY], s->time_ms, kb(sum_of(s, "total")),
				kb(available(s)));
	if (!strcmp(s->series, "proc_diskstats"))
		return add_part(&p->parts[NOW_DISK], s->time_ms, kb(sum_of(s, "*.read")),
				kb(sum_of(s, "*.written")));
	return 0;
}

int now_take_memory(struct now *n, int64_t time_ms, int64_t kb_all)
{
	return add_part(&n->private->parts[NOW_TASKS], time_ms, kb_all, -1);
}

/* The newest part until a time, NULL: none since the last one that was taken. */
static const struct now_part *take_until(struct now_parts *p, int64_t time_ms)
{
	const struct now_part *taken = NULL;

	while (p->first < p->n && p->part[p->first].time_ms <= time_ms)
		taken = &p->part[p->first++];
	return taken;
}

static void fill_samples(struct now *n, const struct now_part *cpu)
{
	struct now_private *p = n->private;
	struct now_sample *s = &p->newest;
	int64_t until_ms = cpu->time_ms + LATE_MS;
	const struct now_part *disk = take_until(&p->parts[NOW_DISK], until_ms);
	const struct now_part *memory = take_until(&p->parts[NOW_MEMORY], until_ms);
	const struct now_part *tasks = take_until(&p->parts[NOW_TASKS], until_ms);

	if (!n->n_samples)
		*s = (struct now_sample){ -1, -1, -1, -1, -1, -1, -1, -1 };
	s->time_ms = cpu->time_ms;
	s->cpu_permille = cpu->value[0];
	s->load_centi = cpu->value[1];
	s->read_kb_s = disk ? disk->value[0] : p->parts[NOW_DISK].seen ? 0 : -1;
	s->written_kb_s = disk ? disk->value[1] : p->parts[NOW_DISK].seen ? 0 : -1;
	if (memory) {
		s->memory_kb = memory->value[0];
		s->available_kb = memory->value[1];
	}
	if (tasks)
		s->tasks_kb = tasks->value[0];
}

static void put_sample(struct now *n, const struct now_sample *s)
{
	n->sample[(n->first_sample + n->n_samples) % NOW_HISTORY] = *s;
	if (n->n_samples < NOW_HISTORY)
		n->n_samples++;
	else
		n->first_sample = (n->first_sample + 1) % NOW_HISTORY;
}

/* What was taken is given back, a piece at a time. */
static void drop_taken(struct now_parts *p)
{
	if (p->first == p->n)
		p->first = p->n = 0;
}

void now_settle(struct now *n, void (*sampled)(void *context, const struct now_sample *s),
		void *context)
{
	struct now_private *p = n->private;

	now_lost_settle(n);
	for (; p->cpu.first < p->cpu.n; p->cpu.first++) {
		if (n->n_samples && p->cpu.part[p->cpu.first].time_ms <= p->newest.time_ms)
			continue;
		fill_samples(n, &p->cpu.part[p->cpu.first]);
		put_sample(n, &p->newest);
		if (sampled)
			sampled(context, &p->newest);
	}
	drop_taken(&p->cpu);
	for (size_t i = 0; i < NOW_SOURCES; i++)
		drop_taken(&p->parts[i]);
}

static void move_parts(struct now_parts *p, const struct suspended *s)
{
	for (size_t i = p->first; i < p->n; i++)
		p->part[i].time_ms = suspended_move_ms(s, p->part[i].time_ms);
}

/* Of those that were taken meanwhile, the first remains. */
void now_move_samples(struct now *n, const struct suspended *s)
{
	struct now_private *p = n->private;
	size_t n_before = n->n_samples;
	int64_t last_ms = -1;

	move_parts(&p->cpu, s);
	for (size_t i = 0; i < NOW_SOURCES; i++)
		move_parts(&p->parts[i], s);
	p->newest.time_ms = suspended_move_ms(s, p->newest.time_ms);
	n->n_samples = 0;
	for (size_t i = 0; i < n_before; i++) {
		struct now_sample moved = n->sample[(n->first_sample + i) % NOW_HISTORY];

		moved.time_ms = suspended_move_ms(s, moved.time_ms);
		if (moved.time_ms > last_ms)
			n->sample[(n->first_sample + n->n_samples++) % NOW_HISTORY] = moved;
		last_ms = MAX(last_ms, moved.time_ms);
	}
}

const struct now_sample *now_newest(const struct now *n)
{
	if (!n->n_samples)
		return NULL;
	return &n->sample[(n->first_sample + n->n_samples - 1) % NOW_HISTORY];
}

void now_release_samples(struct now *n)
{
	struct now_private *p = n->private;

	free(p->cpu.part);
	for (size_t i = 0; i < NOW_SOURCES; i++)
		free(p->parts[i].part);
}
