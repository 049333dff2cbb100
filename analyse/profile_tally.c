/* SPDX-License-Identifier: MIT */
#include "analyse/profile.h"

#include "analyse/names.h"
#include "base/array.h"
#include "base/index.h"
#include "base/minmax.h"

#include <errno.h>
#include <stdio.h>
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

/* A bucket of values from 2^(b-1) to 2^b - 1 stands for one in its middle. */
static uint64_t middle(unsigned bucket)
{
	return bucket < 2 ? bucket : (UINT64_C(3) << (bucket - 2));
}

static int add_times(struct work *w, struct profile_row *row, enum profile_time which,
		     const struct tally_times *times)
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
		value[p->n_values[which]++] = (struct profile_value){ limited(middle(b)),
			limited(times->histogram[b]) };
		row->n[which]++;
	}
	return 0;
}

static int64_t max_of(const struct tally_times *times)
{
	return times->max || !times->total ? limited(times->max) : -1;
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
	int r = row->n[PROFILE_RUNS] ? 0 : add_times(w, row, PROFILE_RUNS, &from->run);

	return r || row->n[PROFILE_QUEUES] ? r : add_times(w, row, PROFILE_QUEUES, &from->queue);
}

static const struct tally_process *process_of(const struct work *w, const struct tally_row *row)
{
	return &w->t->process[w->t->location[row->location].process];
}

/* The second clock, which can be that of CPU time; as the first one can be. */
static void set_amounts(struct profile_row *row, const struct tally_process *proc,
			const struct tally_row *from)
{
	if (*proc->amount) {
		row->known |= PROFILE_HAS_AMOUNT;
		row->sum[PROFILE_AMOUNT] = limited(from->amount_total);
	}
	if (!strcmp(proc->amount, "cpu") || !strcmp(proc->clock, "cpu")) {
		row->known |= 1u << VALUE_CPU;
		row->value[VALUE_CPU - VALUE_CPU] = limited(strcmp(proc->clock, "cpu") ? from->amount_total :
							    from->run.total);
	}
}

static int number_units(struct work *w, const struct tally_process *proc,
			uint32_t unit[PROFILE_OWN_UNITS])
{
	int r = number(w, *proc->unit ? proc->unit : "ns", &unit[PROFILE_OF_RUN]);

	unit[PROFILE_OF_AMOUNT] = PROFILE_NO_UNIT;
	return r || !*proc->amount ? r : number(w, proc->amount_unit, &unit[PROFILE_OF_AMOUNT]);
}

/* Two rows of the table have different keys, unless names of threads are equal. */
static int add_row(struct work *w, const struct tally_row *from)
{
	const struct tally_process *proc = process_of(w, from);
	struct profile_row one = PROFILE_ROW_INIT, *row;
	bool whole = w->t->from_us < 0;
	uint32_t key[PROFILE_KEYS], unit[PROFILE_OWN_UNITS], first;
	int r = name_row(w, from, key);

	if (!r)
		r = number_units(w, proc, unit);
	row = r ? NULL : profile_find(w->p, key, unit);
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
	one.sum[PROFILE_RUN] = limited(from->run.total);
	one.sum[PROFILE_SELF] = limited(from->self_total);
	/* the threads of the host are its workers */
	one.sum[PROFILE_QUEUE] = one.sum[PROFILE_WAIT + QUEUE_WORKER] = limited(from->queue.total);
	set_amounts(&one, proc, from);
	one.max[PROFILE_RUN_MAX] = whole ? max_of(&from->run) : -1;
	one.max[PROFILE_QUEUE_MAX] = whole ? max_of(&from->queue) : -1;
	one.max[PROFILE_AMOUNT_MAX] = whole && *proc->amount ? limited(from->amount_max) : -1;
	one.sample[PROFILE_RUNS] = from->count ? limited(from->run.sample) : -1;
	one.sample[PROFILE_QUEUES] = from->count ? limited(from->queue.sample) : -1;
	profile_row_add(row, &one);
	return add_histograms(w, row, from);
}

/* Amounts and histograms of all threads: the first row of the location gets them. */
static int add_common(struct work *w, const struct tally_row *from)
{
	struct profile_row one = PROFILE_ROW_INIT, *row;
	uint32_t first;

	if (!index_find(&w->first, from->location, from->phase, &first))
		return 0;
	row = &w->p->row[first];
	set_amounts(&one, process_of(w, from), from);
	if (w->t->from_us < 0 && one.known & PROFILE_HAS_AMOUNT)
		one.max[PROFILE_AMOUNT_MAX] = limited(from->amount_max);
	profile_row_add(row, &one);
	return add_histograms(w, row, from);
}

static bool is_common(const struct tally_table *t, const struct tally_row *row)
{
	return !strcmp(t->thread[row->birth].name, "*");
}

/* Without an end or samples, the recording is as long as its tallies. */
static void set_seconds(struct profile *p, const struct tally_table *t)
{
	int64_t from_us = MAX(t->from_us, 0);
	double seconds = t->to_us > from_us ? (double)(t->to_us - from_us) / 1e6 : 0;

	if (seconds > p->seconds)
		p->seconds = seconds;
}

int profile_add_tallies(struct profile *p, const struct tally_table *t,
			const struct recording *rec)
{
	size_t cap[PROFILE_TIMES] = { p->n_values[0], p->n_values[1] };
	struct work w = { .p = p, .t = t, .rec = rec, .cap = cap, .first = INDEX_INIT };
	int r = 0;

	for (size_t i = 0; i < t->n_rows; i++) {
		r = is_common(t, &t->row[i]) ? 0 : add_row(&w, &t->row[i]);
		if (r)
			goto out;
	}
	for (size_t i = 0; i < t->n_rows; i++) {
		r = is_common(t, &t->row[i]) ? add_common(&w, &t->row[i]) : 0;
		if (r)
			goto out;
	}
out:
	for (size_t i = 0; i < t->n_processes; i++) {
		p->n_unfinished += t->process[i].unfinished;
		p->n_incomplete += t->process[i].incomplete;
		p->n_lost = limited((uint64_t)p->n_lost + t->process[i].n_lost);
	}
	set_seconds(p, t);
	index_release(&w.first);
	return r;
}
