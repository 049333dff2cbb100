/* SPDX-License-Identifier: MIT */
#include "render/chart/lane_group.h"

#include "analyse/directories.h"
#include "base/array.h"
#include "base/minmax.h"
#include "base/name_table.h"
#include "base/saturate.h"
#include "base/sort.h"
#include "command/build_tool.h"
#include "recording/recipe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DIRECTORY_DEPTH 2

struct grouping {
	const struct summary *s;
	enum lanes_by by;
	struct name_table names;
	struct directories directories;
	uint32_t last, last_number;	/* a directory, and its group */
};

/* As far as its second component. */
static struct slice shortened(struct slice path)
{
	size_t slashes = 0;

	for (size_t i = 1; i < path.len; i++) {
		slashes += path.p[i] == '/';
		if (slashes == DIRECTORY_DEPTH)
			return (struct slice){ path.p, i };
	}
	return path;
}

/* The number of a directory of the first two levels. */
static int of_directory(struct grouping *g, uint32_t task, uint32_t *number)
{
	uint32_t at;
	int r = directories_find(&g->directories, task, &at);

	if (!r && at != g->last)
		r = name_table_add(&g->names, shortened(g->directories.names.name[at]),
				   &g->last_number);
	g->last = r ? NO_INDEX : at;
	*number = g->last_number;
	return r;
}

static int of_recipe(struct grouping *g, uint32_t task, uint32_t *number)
{
	const struct task *t = &g->s->rec->task[task];
	uint32_t at;
	int r;

	if (*t->key)
		return name_table_add(&g->names, slice_of(t->key), number);
	r = directories_of_instance(&g->directories, t->instance, &at);
	return r ? r : name_table_add(&g->names, g->directories.names.name[at], number);
}

static int group_of(struct grouping *g, uint32_t task, uint32_t *number)
{
	switch (g->by) {
	case LANES_KIND:
		return name_table_add(&g->names, slice_of(g->s->rec->task[task].kind), number);
	case LANES_RECIPE:
		return of_recipe(g, task, number);
	default:
		return of_directory(g, task, number);
	}
}

struct tally {
	int64_t busy_us;
	size_t n_tasks;
};

/* The name of a recipe says enough, unless two rows differ in the version alone. */
static void drop_versions(struct lane_groups *rows)
{
	struct recipe recipe[LANE_ROWS_MAX];
	bool alone[LANE_ROWS_MAX];

	for (size_t i = 0; i < rows->n_rows; i++) {
		recipe_parse(&recipe[i], rows->label[i]);
		alone[i] = true;
		for (size_t k = 0; k < i; k++) {
			if (slice_equal(recipe[i].name, recipe[k].name))
				alone[i] = alone[k] = false;
		}
	}
	for (size_t i = 0; i < rows->n_rows; i++) {
		if (alone[i])
			rows->label[i][recipe[i].name.len] = '\0';
	}
}

static bool has_recipes(const struct recording *rec)
{
	return rec->n_instances && build_tool_of(rec->instance[0].tool)->recipes;
}

/* group: of each task that ran. Groups become rows, the one with most time first, empty ones
 * left out, and the last ones together where there are more than most. */
static int fill_rows(struct lane_groups *rows, const struct grouping *g, const uint32_t *group,
		     size_t most)
{
	const struct recording *rec = g->s->rec;
	size_t n_groups = g->names.n, n = 0;
	struct tally *tally = array_new_zero(n_groups, sizeof *tally);
	struct keyed *k = array_new(n_groups, sizeof *k);
	uint8_t *row_of = malloc(n_groups + 1);
	int r = tally && k && row_of ? 0 : -ENOMEM;

	for (size_t i = 0; !r && i < g->s->n_ran; i++) {
		const struct task *t = &rec->task[g->s->order[i]];
		struct tally *of = &tally[group[i]];

		if (t->hosts)
			continue;
		of->n_tasks++;
		of->busy_us = sat_add(of->busy_us, cost_wall_us(rec, t));
	}
	for (size_t i = 0; !r && i < n_groups; i++) {
		if (tally[i].n_tasks)
			k[n++] = (struct keyed){ (uint64_t)(INT64_MAX - tally[i].busy_us),
						 (int64_t)i };
	}
	r = r ? r : sort_keyed(k, n);
	rows->n_rows = r ? 0 : MIN(n, most);
	for (size_t i = 0; !r && i < n; i++) {
		bool other = n > most && i >= most - 1;

		row_of[k[i].value] = (uint8_t)(other ? most - 1 : i);
		if (i >= rows->n_rows)
			continue;
		rows->label[i] = strdup(other ? "others" : g->names.name[k[i].value].p);
		r = rows->label[i] ? 0 : -ENOMEM;
	}
	if (!r && g->by == LANES_RECIPE && has_recipes(rec))
		drop_versions(rows);
	for (size_t i = 0; !r && i < g->s->n_ran; i++) {
		if (!rec->task[g->s->order[i]].hosts)
			rows->row[i] = row_of[group[i]];
	}
	free_all(tally, row_of, k);
	return r;
}

int lane_groups_make(struct lane_groups *rows, const struct summary *s, enum lanes_by by,
		     size_t most)
{
	struct grouping g = { .s = s, .by = by, .names.arena = arena_new(), .last = NO_INDEX };
	uint32_t *group = array_new_zero(s->n_ran, sizeof *group);
	int r = directories_init(&g.directories, s);

	*rows = (struct lane_groups){ .row = array_new_zero(s->n_ran, 1) };
	if (!r)
		r = g.names.arena && group && rows->row ? 0 : -ENOMEM;
	for (size_t i = 0; !r && i < s->n_ran; i++) {
		const struct task *t = &s->rec->task[s->order[i]];

		if (!t->hosts)
			r = group_of(&g, s->order[i], &group[i]);
	}
	r = r ? r : fill_rows(rows, &g, group, most);
	name_table_release(&g.names);
	arena_free(g.names.arena);
	directories_release(&g.directories);
	free(group);
	return r;
}

void lane_groups_release(struct lane_groups *g)
{
	for (size_t i = 0; i < g->n_rows; i++)
		free(g->label[i]);
	free(g->row);
	*g = (struct lane_groups){ 0 };
}
