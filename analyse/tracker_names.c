/* SPDX-License-Identifier: MIT */
#include "analyse/cost.h"
#include "analyse/names.h"
#include "analyse/tracker_parts.h"
#include "base/array.h"
#include "recording/recipe.h"

#include <errno.h>
#include <stdlib.h>

const char *const tracker_by_word[TRACKER_BYS + 1] = {
	"kind", "program", "recipe", "directory", "task", NULL
};

/* b is empty, and may be used. */
static struct slice name_of(struct buf *b, const struct recording *rec, const struct task *t,
			    enum tracker_by by)
{
	struct recipe recipe;

	switch (by) {
	case TRACKER_KIND:
		return slice_of(t->kind);
	case TRACKER_PROGRAM:
		return slice_of(t->program);
	case TRACKER_RECIPE:
		if (!name_is_recipe(rec, t))
			return slice_of("");
		recipe_parse(&recipe, t->key);
		return recipe.name;
	case TRACKER_DIRECTORY:
		return slice_of(*name_place(rec, t) ? name_place(rec, t) : ".");
	default:
		name_add_stable(b, rec, t);
		return (struct slice){ buf_str(b), b->len };
	}
}

static int add_tasks(struct tracker_names *x, const struct recording *rec, enum tracker_by by)
{
	struct buf b = BUF_INIT;
	int r = 0;

	for (size_t i = 0; !r && i < rec->n_tasks; i++) {
		buf_clear(&b);
		r = name_table_add(&x->table, name_of(&b, rec, &rec->task[i], by),
				   &x->of_task[i]);
		r = r ? r : buf_error(&b);
	}
	buf_release(&b);
	return r;
}

int tracker_names_make(struct tracker_names *x, const struct recording *rec, enum tracker_by by)
{
	int r;

	x->memory = arena_new();
	x->table.arena = x->memory;
	x->of_task = malloc((rec->n_tasks + 1) * sizeof *x->of_task);
	if (!x->memory || !x->of_task)
		return -ENOMEM;
	r = add_tasks(x, rec, by);
	if (r)
		return r;
	x->name = calloc(x->table.n + 1, sizeof *x->name);
	x->n_tasks = calloc(x->table.n + 1, sizeof *x->n_tasks);
	if (!x->name || !x->n_tasks)
		return -ENOMEM;
	for (size_t i = 0; i < x->table.n; i++)
		x->name[i] = x->table.name[i].p;
	for (size_t i = 0; i < rec->n_tasks; i++)
		x->n_tasks[x->of_task[i]] += task_ran(&rec->task[i]);
	x->made = true;
	return 0;
}

void tracker_names_release(struct tracker_names *x)
{
	name_table_release(&x->table);
	arena_free(x->memory);
	free_all(x->name, x->of_task, x->n_tasks);
	*x = (struct tracker_names){ 0 };
}
