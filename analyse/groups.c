/* SPDX-License-Identifier: MIT */
#include "analyse/groups.h"

#include "analyse/cmake_target.h"
#include "analyse/directories.h"
#include "analyse/names.h"
#include "base/array.h"
#include "base/minmax.h"
#include "base/name_table.h"
#include "base/sort.h"
#include "recording/recipe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *const groups_by_word[GROUPINGS + 1] = {
	"directory", "target", "program", "kind", "host", NULL
};

struct grouping {
	struct groups *g;
	const struct summary *s;
	struct directories directories;
	struct name_table names;	/* of the groups, except directories */
	const char *last_text;		/* tasks in a row often have the same one */
	uint32_t last;
	uint32_t *of_target;		/* the group of each target, NO_INDEX: not asked yet */
	struct buf name;
	size_t capacity;
};

/* The group of a task */

static int of_text(struct grouping *w, const char *text, uint32_t *number)
{
	int r = text == w->last_text ? 0 : name_table_add(&w->names, slice_of(text), &w->last);

	w->last_text = r ? NULL : text;
	*number = w->last;
	return r;
}

static int of_target(struct grouping *w, uint32_t task, uint32_t *number)
{
	const struct recording *rec = w->s->rec;
	const struct task *t = &rec->task[task];
	uint32_t *known = &w->of_target[w->s->nest[task].target];
	int r;

	if (*known == NO_INDEX) {
		buf_clear(&w->name);
		if (!cmake_target_add(&w->name, t))
			name_add_task(&w->name, rec, t);
		r = buf_error(&w->name);
		if (!r)
			r = name_table_add(&w->names, slice_of(buf_str(&w->name)), known);
		if (r)
			return r;
	}
	*number = *known;
	return 0;
}

static int group_of(struct grouping *w, uint32_t task, uint32_t *number)
{
	const struct task *t = &w->s->rec->task[task];
	const char *tool;

	switch (w->g->by) {
	case GROUPS_DIRECTORY:
		return directories_find(&w->directories, task, number);
	case GROUPS_TARGET:
		return of_target(w, task, number);
	case GROUPS_PROGRAM:
		return of_text(w, t->program, number);
	case GROUPS_HOST:
		tool = w->s->rec->instance[t->instance].tool;
		return of_text(w, tool ? tool : "", number);
	default:
		return of_text(w, t->kind, number);
	}
}

/* Sums */

static void add_group_values(struct group *to, const struct group *from)
{
	to->n += from->n;
	cost_add(&to->cost, &from->cost);
}

static int add_task(struct grouping *w, uint32_t task)
{
	struct groups *g = w->g;
	const struct group one = { .n = 1, .cost = w->s->nest[task].cost };
	uint32_t at;
	int r = group_of(w, task, &at);

	if (r)
		return r;
	if (at >= w->capacity) {
		size_t more = 2 * (size_t)at + 16;
		struct group *grown = realloc(g->group, more * sizeof *grown);

		if (!grown)
			return -ENOMEM;
		g->group = grown;
		w->capacity = more;
	}
	for (; g->n <= at; g->n++)
		g->group[g->n] = (struct group){ .n = 0 };
	add_group_values(&g->group[at], &one);
	return 0;
}

/* Numbers that no task got, such as those of directories of instances, make no group. */
static void drop_empty(struct groups *g)
{
	size_t n = 0;

	for (size_t i = 0; i < g->n; i++) {
		if (g->group[i].n)
			g->group[n++] = g->group[i];
	}
	g->n = n;
}

/* The name of a recipe says enough, unless two groups differ in the version alone. */
static int drop_versions(struct groups *g)
{
	struct name_table names = NAME_TABLE_INIT;
	uint32_t *number = array_new(g->n, sizeof *number);
	uint32_t *times = array_new_zero(g->n, sizeof *times);
	struct recipe recipe;
	int r = number && times ? 0 : -ENOMEM;

	for (size_t i = 0; !r && i < g->n; i++) {
		recipe_parse(&recipe, g->group[i].name);
		r = name_table_add(&names, recipe.name, &number[i]);
		if (!r)
			times[number[i]]++;
	}
	for (size_t i = 0; !r && i < g->n; i++) {
		recipe_parse(&recipe, g->group[i].name);
		if (times[number[i]] > 1)
			continue;
		g->group[i].name = arena_text(g->texts, recipe.name.p, recipe.name.len);
		r = g->group[i].name ? 0 : -ENOMEM;
	}
	name_table_release(&names);
	free(number);
	free(times);
	return r;
}

static int add_tasks(struct grouping *w, const uint32_t *task, size_t n)
{
	struct groups *g = w->g;
	const struct recording *rec = w->s->rec;
	const struct name_table *names = g->by == GROUPS_DIRECTORY ? &w->directories.names :
					 &w->names;
	int r = 0;

	for (size_t i = 0; !r && i < n; i++) {
		if (!task_ran(&rec->task[task[i]]))
			continue;
		r = add_task(w, task[i]);
		g->of_recipes |= g->by == GROUPS_DIRECTORY && name_is_recipe(rec, &rec->task[task[i]]);
	}
	if (r)
		goto out;
	for (size_t i = 0; i < g->n; i++)
		g->group[i].name = names->name[i].p;
out:
	drop_empty(g);
	return !r && g->of_recipes ? drop_versions(g) : r;
}

/* What was recorded of the processes is summed up by program already. */
static int add_programs(struct groups *g, const struct recording *rec)
{
	g->group = array_new(rec->n_programs, sizeof *g->group);
	if (!g->group)
		return -ENOMEM;
	for (; g->n < rec->n_programs; g->n++) {
		const struct program *p = &rec->program[g->n];

		g->group[g->n] = (struct group){
			.name = p->name, .n = p->n,
			.cost = { .wall_us = p->wall_us, .wall_least_us = p->wall_us,
				  .known = 1u << VALUE_WALL, .measured = p->n_measured > 0,
				  .cpu_us = p->n_measured ? p->cpu_us : 0,
				  .memory_kb = p->max_rss_kb > 0 ? p->max_rss_kb : 0 },
		};
	}
	return 0;
}

static int64_t beyond(int64_t whole, int64_t part)
{
	return whole > part ? whole - part : 0;
}

/* The values of the build's own process and all its descendants are exact or the sum of the tasks. */
static void find_rest(struct groups *g, const struct summary *s)
{
	const struct cost *sum = &g->total.cost;
	int64_t unseen_us = g->of_processes ? summary_unseen_us(s) : -1;

	if (g->of_processes) {
		g->rest.cpu_us = MAX(unseen_us, 0);
	} else if (s->cpu_exact) {
		g->rest.cpu_us = beyond(s->cpu_us, sum->cpu_us);
		g->rest.user_us = beyond(s->user_us, sum->user_us);
		g->rest.system_us = beyond(s->system_us, sum->system_us);
		g->rest.read_bytes = beyond(s->read_bytes, sum->read_bytes);
		g->rest.written_bytes = beyond(s->written_bytes, sum->written_bytes);
		g->rest.known = 1u << VALUE_IO;
	}
	g->rest.measured = g->rest.cpu_us || g->rest.read_bytes || g->rest.written_bytes;
	cost_add(&g->total.cost, &g->rest);
	g->total.cost.at_least = s->at_least;
}

static int sum_up(struct groups *g, const struct summary *s, const uint32_t *task, size_t n)
{
	struct grouping w = { .g = g, .s = s, .names.arena = g->texts, .name = BUF_INIT };
	int r = g->by == GROUPS_DIRECTORY ? directories_init(&w.directories, s) : 0;

	if (g->by == GROUPS_TARGET) {
		w.of_target = array_new(s->n_targets, sizeof *w.of_target);
		if (w.of_target)
			memset(w.of_target, 0xff, s->n_targets * sizeof *w.of_target);
		else
			r = -ENOMEM;
	}
	r = r ? r : add_tasks(&w, task, n);
	/* the names live as long as the groups */
	for (size_t i = 0; !r && g->by == GROUPS_DIRECTORY && i < g->n; i++) {
		g->group[i].name = arena_text(g->texts, g->group[i].name,
					      strlen(g->group[i].name));
		r = g->group[i].name ? 0 : -ENOMEM;
	}
	directories_release(&w.directories);
	name_table_release(&w.names);
	buf_release(&w.name);
	free(w.of_target);
	return r;
}

int groups_make(struct groups *g, const struct summary *s, const uint32_t *task, size_t n,
		bool all, enum groups_by by)
{
	int r;

	*g = (struct groups){ .by = by, .texts = arena_new() };
	g->total.cost.known = 1u << VALUE_WALL;		/* also of no task at all */
	g->of_processes = by == GROUPS_PROGRAM && all && s->rec->n_programs;
	if (!g->texts)
		return -ENOMEM;
	r = g->of_processes ? add_programs(g, s->rec) : sum_up(g, s, task, n);
	g->order = r ? NULL : array_new(g->n, sizeof *g->order);
	if (r)
		return r;
	if (!g->order)
		return -ENOMEM;
	for (size_t i = 0; i < g->n; i++)
		add_group_values(&g->total, &g->group[i]);
	if (all)
		find_rest(g, s);
	return 0;
}

void groups_release(struct groups *g)
{
	arena_free(g->texts);
	free(g->group);
	free(g->order);
	*g = (struct groups){ 0 };
}

/* Order */

struct ranking {
	const struct group *group;
	enum value key;
};

static bool before(const void *ctx, uint32_t a, uint32_t b)
{
	const struct ranking *r = ctx;
	const struct group *g = &r->group[a], *h = &r->group[b];
	int order = value_order(r->key, &g->cost, &h->cost);

	return order ? order < 0 : strcmp(g->name, h->name) < 0;
}

size_t groups_top(struct groups *g, enum value key, size_t top, const uint32_t **order)
{
	const struct ranking r = { g->group, key };

	for (uint32_t i = 0; i < g->n; i++)
		g->order[i] = i;
	*order = g->order;
	return sort_top(g->order, g->n, top, before, &r);
}

enum value groups_usual_key(const struct groups *g)
{
	return g->of_processes && g->total.cost.measured ? VALUE_CPU : VALUE_WALL;
}

void groups_add_up(struct group *sum, const struct groups *g, const uint32_t *index, size_t n)
{
	*sum = (struct group){ .n = 0 };
	for (size_t i = 0; i < n; i++)
		add_group_values(sum, &g->group[index[i]]);
}

/* Words */

const char *groups_title(const struct groups *g)
{
	return g->of_recipes ? "recipe" : g->by == GROUPS_HOST ? "build tool" :
	       groups_by_word[g->by];
}

const char *groups_name(const struct group *group)
{
	return *group->name ? group->name : "(not known)";
}

const char *groups_rest_name(const struct groups *g)
{
	return g->of_processes ? "(not seen)" : "(in no task)";
}

void groups_add_note(struct buf *b, const struct groups *g)
{
	if (g->by == GROUPS_PROGRAM)
		buf_adds(b, g->of_processes ? ", of all processes" :
			 ", of the main program of each task");
}
