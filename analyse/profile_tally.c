/* SPDX-License-Identifier: MIT */
#include "analyse/profile.h"

#include "analyse/names.h"
#include "base/array.h"
#include "base/index.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct work {
	struct profile *p;
	const struct tally_table *t;
	const struct recording *rec;
	struct index first;		/* location, phase -> the first row of threads */
	size_t *cap;
};

static int number(struct work *w, const char *text, uint32_t *n)
{
	return profile_number(w->p, slice_of(text), n);
}

static const struct instance *instance_of(const struct work *w, const struct tally_process *proc)
{
	for (size_t i = w->rec->n_instances; i > 0; i--) {
		if (!strcmp(w->rec->instance[i - 1].id, proc->instance))
			return &w->rec->instance[i - 1];
	}
	return NULL;
}

static int64_t limited(uint64_t n)
{
	return n < INT64_MAX ? (int64_t)n : INT64_MAX;
}

/* Microseconds if the clock counts nanoseconds; other units are as they are. */
static int64_t in_us(uint64_t n, const char *unit)
{
	return limited(strcmp(unit, "ns") ? n : (n + 500) / 1000);
}

/* A bucket of values from 2^(b-1) to 2^b - 1 stands for one in its middle. */
static uint64_t middle(unsigned bucket)
{
	return bucket < 2 ? bucket : (UINT64_C(3) << (bucket - 2));
}

static int add_times(struct work *w, struct profile_row *row, enum profile_time which,
		     const struct tally_times *times, const char *unit)
{
	struct profile *p = w->p;

	row->first[which] = (uint32_t)p->n_values[which];
	for (unsigned b = 0; times->histogram && b < TALLY_BUCKETS; b++) {
		struct profile_value *value = times->histogram[b] ?
			array_make_room(p->value[which], &w->cap[which], p->n_values[which],
					sizeof *value) : p->value[which];

		if (!times->histogram[b])
			continue;
		if (!value)
			return -ENOMEM;
		p->value[which] = value;
		value[p->n_values[which]++] = (struct profile_value){ in_us(middle(b), unit),
			limited(times->histogram[b]) };
		row->n[which]++;
	}
	return 0;
}

static int name_row(struct work *w, const struct tally_row *from, uint32_t key[PROFILE_KEYS])
{
	const struct tally_location *l = &w->t->location[from->location];
	const struct tally_process *proc = &w->t->process[l->process];
	const struct instance *in = instance_of(w, proc);
	const struct task probe = { .instance = in ? (uint32_t)(in - w->rec->instance) : 0,
		.key = "" };
	char line[16] = "", pid[16];
	const char *const text[PROFILE_KEYS] = {
		[PROFILE_NAME] = l->function, [PROFILE_RULE] = "", [PROFILE_KIND] = PROFILE_TALLY,
		[PROFILE_DIR] = in ? name_place(w->rec, &probe) : "",
		[PROFILE_FILE] = name_relative(w->rec, l->file), [PROFILE_LINE] = line,
		[PROFILE_BORN] = w->t->thread[from->birth].name,
		[PROFILE_DIED] = from->death == TALLY_STILL_ALIVE ? PROFILE_ALIVE :
				 w->t->thread[from->death].name,
		[PROFILE_HOST] = in ? in->tool : "", [PROFILE_PID] = pid,
		[PROFILE_PHASE] = w->t->phase[from->phase],
	};
	int r = 0;

	if (l->line > 0)
		snprintf(line, sizeof line, "%d", l->line);
	snprintf(pid, sizeof pid, "%d", proc->pid);
	for (int k = 0; !r && k < PROFILE_KEYS; k++)
		r = number(w, text[k], &key[k]);
	return r;
}

static int add_histograms(struct work *w, struct profile_row *row, const struct tally_row *from)
{
	const struct tally_process *proc = &w->t->process[w->t->location[from->location].process];
	int r = row->n[PROFILE_RUNS] ? 0 :
		add_times(w, row, PROFILE_RUNS, &from->run, proc->unit);

	return r || row->n[PROFILE_QUEUES] ? r :
	       add_times(w, row, PROFILE_QUEUES, &from->queue, "ns");
}

static int64_t cpu_us(const struct tally_process *proc, uint64_t amount)
{
	return strcmp(proc->amount, "cpu") ? 0 : in_us(amount, proc->amount_unit);
}

/* Two rows of the table have different keys, unless names of threads are equal. */
static int add_row(struct work *w, const struct tally_row *from)
{
	const struct tally_process *proc = &w->t->process[w->t->location[from->location].process];
	struct profile_row one = { .max = { -1, -1, -1 }, .sample = { -1, -1 } }, *row;
	bool whole = w->t->from_us < 0;
	uint32_t key[PROFILE_KEYS], first;
	int r = name_row(w, from, key);

	row = r ? NULL : profile_find(w->p, key);
	if (!row)
		return -ENOMEM;
	if (!index_find(&w->first, from->location, from->phase, &first) &&
	    index_put(&w->first, from->location, from->phase, (uint32_t)(row - w->p->row)))
		return -ENOMEM;
	if (from->death == TALLY_STILL_ALIVE) {
		row->sum[PROFILE_LIVING] += limited(from->count);
		return 0;
	}
	one.sum[PROFILE_COUNT] = one.sum[PROFILE_QUEUED] = limited(from->count);
	one.sum[PROFILE_RUN] = in_us(from->run.total, proc->unit);
	one.sum[PROFILE_SELF] = in_us(from->self_total, proc->unit);
	one.sum[PROFILE_QUEUE] = one.sum[PROFILE_WAIT + QUEUE_OTHER] =
		in_us(from->queue.total, "ns");
	one.sum[PROFILE_CPU] = cpu_us(proc, from->amount_total);
	one.max[PROFILE_RUN_MAX] = whole ? in_us(from->run.max, proc->unit) : -1;
	one.max[PROFILE_QUEUE_MAX] = whole ? in_us(from->queue.max, "ns") : -1;
	one.sample[PROFILE_RUNS] = from->count ? in_us(from->run.sample, proc->unit) : -1;
	one.sample[PROFILE_QUEUES] = from->count ? in_us(from->queue.sample, "ns") : -1;
	profile_row_add(row, &one);
	return add_histograms(w, row, from);
}

/* Amounts and histograms of all threads: the first row of the location gets them. */
static int add_common(struct work *w, const struct tally_row *from)
{
	const struct tally_process *proc = &w->t->process[w->t->location[from->location].process];
	struct profile_row *row;
	uint32_t first;

	if (!index_find(&w->first, from->location, from->phase, &first))
		return 0;
	row = &w->p->row[first];
	row->sum[PROFILE_CPU] += cpu_us(proc, from->amount_total);
	return add_histograms(w, row, from);
}

static bool is_common(const struct tally_table *t, const struct tally_row *row)
{
	return !strcmp(t->thread[row->birth].name, "*");
}

int profile_add_tallies(struct profile *p, const struct tally_table *t,
			const struct recording *rec)
{
	size_t cap[PROFILE_TIMES] = { p->n_values[0], p->n_values[1] };
	struct work w = { .p = p, .t = t, .rec = rec, .cap = cap, .first = INDEX_INIT };
	int r = 0;

	for (size_t i = 0; !r && i < t->n_rows; i++)
		r = is_common(t, &t->row[i]) ? 0 : add_row(&w, &t->row[i]);
	for (size_t i = 0; !r && i < t->n_rows; i++)
		r = is_common(t, &t->row[i]) ? add_common(&w, &t->row[i]) : 0;
	index_release(&w.first);
	return r;
}
