/* SPDX-License-Identifier: MIT */
#include "analyse/races.h"

#include "analyse/needs_names.h"
#include "base/array.h"
#include "base/minmax.h"
#include "base/search.h"
#include "base/sort.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A task and a file that it makes: sorted by file, then by start. */
struct finder {
	const struct summary *s;
	const struct recording *rec;
	struct races *out;
	struct needs_names names;
	struct arena *memory;
	size_t n;
	struct keyed *makes;	/* key: path; value: task */
};

static bool makes_files(const struct task *t)
{
	static const char *const kinds[] = { "compile", "link", "archive", "generate" };

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!strcmp(t->kind, kinds[i]))
			return task_ran(t) && !t->hosts;
	}
	return false;
}

static int64_t overlap_us(const struct finder *f, uint32_t a, uint32_t b)
{
	const struct task *x = &f->rec->task[a], *y = &f->rec->task[b];
	int64_t start = MAX(x->start_us, y->start_us);
	int64_t one = recording_task_end_us(f->rec, x), other = recording_task_end_us(f->rec, y);

	return MIN(one, other) - start;
}

static bool is_inside(const struct finder *f, uint32_t task, uint32_t outer)
{
	while (task != NO_INDEX && task != outer)
		task = f->s->nest[task].parent;
	return task == outer;
}

static int add_race(struct finder *f, enum race_what what, uint32_t first, uint32_t second)
{
	struct races *r = f->out;
	struct race *race;
	int64_t overlap = overlap_us(f, first, second);

	if (overlap <= 0 || is_inside(f, first, second) || is_inside(f, second, first))
		return 0;
	if (r->n_all++ >= RACES_MAX)
		return 0;
	race = array_add(&r->race, &r->n, sizeof *race);
	if (!race)
		return -ENOMEM;
	*race = (struct race){ what, first, second, overlap };
	return 0;
}

/* By their start, so that sorting by path keeps that order. */
static void collect_makes(struct finder *f)
{
	for (size_t i = 0; i < f->s->n_ran; i++) {
		uint32_t task = f->s->order[i], target = f->s->nest[task].target;
		const struct task *t = &f->rec->task[task];

		if (!makes_files(t))
			continue;
		if (target != NO_INDEX && f->names.of_target[target] != NO_INDEX)
			f->makes[f->n++] = (struct keyed){ f->names.of_target[target], task };
		for (uint32_t k = t->first_out; f->rec->n_out && k < t->first_out + t->n_out; k++) {
			if (f->names.of_out[k] != NO_INDEX)
				f->makes[f->n++] = (struct keyed){ f->names.of_out[k], task };
		}
	}
}

/* The first one of a path, n: none. */
static size_t find_first(const struct finder *f, uint32_t path)
{
	struct search_range s = search_all(f->n);

	while (search_next(&s))
		search_past(&s, f->makes[s.at].key < path);
	return s.at;
}

/* Those that start before the first one has ended. */
static int compare_makers(struct finder *f)
{
	int r = 0;

	for (size_t i = 0; !r && i < f->n; i++) {
		uint32_t a = (uint32_t)f->makes[i].value;
		int64_t end = recording_task_end_us(f->rec, &f->rec->task[a]);

		for (size_t k = i + 1; !r && k < f->n && f->makes[k].key == f->makes[i].key; k++) {
			uint32_t b = (uint32_t)f->makes[k].value;

			if (f->rec->task[b].start_us >= end)
				break;
			if (a != b && f->s->nest[a].target != f->s->nest[b].target)
				r = add_race(f, RACE_BOTH_MAKE, a, b);
		}
	}
	return r;
}

static int compare_readers(struct finder *f, uint32_t task)
{
	const struct task *t = &f->rec->task[task];
	int64_t end = recording_task_end_us(f->rec, t);
	int r = 0;

	for (uint32_t k = t->first_after; !r && k < t->first_after + t->n_after; k++) {
		uint32_t path = f->names.of_after[k];

		for (size_t i = path == NO_INDEX ? f->n : find_first(f, path);
		     !r && i < f->n && f->makes[i].key == path; i++) {
			uint32_t maker = (uint32_t)f->makes[i].value;

			if (f->rec->task[maker].start_us >= end)
				break;
			if (f->rec->task[maker].instance != t->instance)
				r = add_race(f, RACE_READ, maker, task);
		}
	}
	return r;
}

static int longer_first(const void *a, const void *b)
{
	return array_order(((const struct race *)b)->overlap_us, ((const struct race *)a)->overlap_us);
}

int races_make(struct races *out, const struct summary *s)
{
	struct finder f = { .s = s, .rec = s->rec, .out = out, .memory = arena_new() };
	int r;

	*out = (struct races){ 0 };
	f.makes = array_new(s->n_ran + s->rec->n_out, sizeof *f.makes);
	r = f.memory && f.makes ? needs_names_make(&f.names, s, f.memory) : -ENOMEM;
	if (!r) {
		collect_makes(&f);
		r = sort_keyed(f.makes, f.n);
	}
	if (!r)
		r = compare_makers(&f);
	for (size_t i = 0; !r && s->rec->n_after && i < s->n_ran; i++) {
		if (makes_files(&s->rec->task[s->order[i]]))
			r = compare_readers(&f, s->order[i]);
	}
	if (!r && out->n)
		qsort(out->race, out->n, sizeof *out->race, longer_first);
	free(f.makes);
	arena_free(f.memory);
	return r;
}

void races_release(struct races *r)
{
	free(r->race);
	*r = (struct races){ 0 };
}
