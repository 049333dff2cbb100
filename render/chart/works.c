/* SPDX-License-Identifier: MIT */
#include "render/chart/works.h"

#include "analyse/names.h"
#include "base/array.h"
#include "base/name_table.h"
#include "base/saturate.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define OTHER "other"
#define PROGRAM_MAX 24		/* bytes of a name */
#define KINDS_CACHED 64		/* a power of two */

struct naming {
	const struct summary *s;
	struct name_table names;
	const char *kind[KINDS_CACHED];	/* and their numbers */
	uint32_t number[KINDS_CACHED];
};

/* The program that decides what a command does; for OpenEmbedded, the task without "do_". */
static struct slice program_of(const struct recording *rec, const struct task *t)
{
	if (name_is_recipe(rec, t))
		return slice_of(strncmp(t->name, "do_", 3) || !t->name[3] ? t->name : t->name + 3);
	return slice_of(t->program);
}

static bool is_program(struct slice name)
{
	return name.len && name.len <= PROGRAM_MAX && (isalnum((unsigned char)*name.p) ||
						       *name.p == '_' || *name.p == '.');
}

/* Tasks of one kind have the same pointer. */
static int number_of(struct naming *g, const struct task *t, uint32_t *number)
{
	size_t at = ((uintptr_t)t->kind ^ (uintptr_t)t->kind >> 6) & (KINDS_CACHED - 1);
	struct slice name;
	bool other;

	if (g->kind[at] == t->kind) {
		*number = g->number[at];
		return 0;
	}
	name = slice_of(t->kind);
	other = !name.len || slice_is(name, OTHER);
	if (other) {
		name = program_of(g->s->rec, t);
		if (!is_program(name))
			name = slice_of(OTHER);
	}
	if (g->names.n >= WORKS_MAX - 1 && name_table_find(&g->names, name) == NAME_TABLE_NONE)
		name = slice_of(OTHER);
	if (name_table_add(&g->names, name, number))
		return -ENOMEM;
	if (!other) {
		g->kind[at] = t->kind;
		g->number[at] = *number;
	}
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct work *x = a, *y = b;

	if (x->wall_us != y->wall_us)
		return x->wall_us > y->wall_us ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* By time; the tasks' numbers follow. */
static void sort(struct works *w, size_t n_ran)
{
	uint8_t place[WORKS_MAX];
	struct work old[WORKS_MAX];

	memcpy(old, w->work, sizeof old);
	qsort(w->work, w->n, sizeof *w->work, by_time);
	for (size_t i = 0; i < w->n; i++) {
		for (size_t k = 0; k < w->n; k++) {
			if (old[k].name == w->work[i].name)
				place[k] = (uint8_t)i;
		}
	}
	for (size_t i = 0; i < n_ran; i++)
		w->of[i] = place[w->of[i]];
}

/* First the colours that the kinds have in all charts, then any that are left. */
static void colour(struct works *w)
{
	bool taken[COLOURS] = { [COLOUR_GREY] = true };
	int64_t all_us = 0;
	size_t next = 0;

	for (size_t i = 0; i < w->n; i++)
		all_us = sat_add(all_us, w->work[i].wall_us);
	while (w->n_coloured < w->n && w->n_coloured < COLOURS - 1 &&
	       (double)w->work[w->n_coloured].wall_us >= WORKS_OTHER_SHARE * (double)all_us)
		w->n_coloured++;
	for (size_t i = 0; i < w->n; i++) {
		enum colour own = palette_of_kind(w->work[i].name);

		w->work[i].colour = COLOUR_GREY;
		if (i < w->n_coloured && !taken[own]) {
			w->work[i].colour = own;
			taken[own] = true;
		}
	}
	for (size_t i = 0; i < w->n_coloured; i++) {
		if (w->work[i].colour != COLOUR_GREY)
			continue;
		while (taken[next])
			next++;
		taken[next] = true;
		w->work[i].colour = (enum colour)next;
	}
}

int works_make(struct works *w, const struct summary *s)
{
	struct naming g = { .s = s };
	int r = 0;

	*w = (struct works){ .of = array_new_zero(s->n_ran, 1), .names = arena_new() };
	g.names.arena = w->names;
	if (!w->of || !w->names)
		return -ENOMEM;
	for (size_t i = 0; !r && i < s->n_ran; i++) {
		const struct task *t = &s->rec->task[s->order[i]];
		uint32_t number;

		r = number_of(&g, t, &number);
		if (r)
			break;
		w->of[i] = (uint8_t)number;
		w->work[number].n_tasks++;
		w->work[number].wall_us = sat_add(w->work[number].wall_us,
						  s->nest[s->order[i]].cost.wall_us);
	}
	w->n = g.names.n;
	for (size_t i = 0; i < w->n; i++)
		w->work[i].name = g.names.name[i].p;
	name_table_release(&g.names);
	if (r)
		return r;
	sort(w, s->n_ran);
	colour(w);
	return 0;
}

void works_release(struct works *w)
{
	free(w->of);
	arena_free(w->names);
	*w = (struct works){ 0 };
}
