/* SPDX-License-Identifier: MIT */
#include "analyse/unread.h"

#include "analyse/names.h"
#include "base/array.h"
#include "base/saturate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Whether a command line has this name as a word. */
static bool names_it(const char *command, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = strstr(command, name); at && n; at = strstr(at + 1, name)) {
		if ((at == command || at[-1] == ' ') && (!at[n] || at[n] == ' '))
			return true;
	}
	return false;
}

/* Does a task of another target need one of these? */
static bool is_read(const struct graph *g, uint32_t target)
{
	const struct nesting *nest = g->s->nest;

	for (uint32_t i = g->s->target[target].first_task; i != NO_INDEX; i = nest[i].next) {
		for (uint32_t k = g->first_needed_by[i]; k < g->first_needed_by[i + 1]; k++) {
			if (g->needed_by[k] >= g->n || nest[g->needed_by[k]].target != target)
				return true;
		}
	}
	return false;
}

/* Is it a temporary file with a made-up name, such as those of link-time optimisation? Whoever made
 * up the name reads it. */
static bool is_temporary(const struct recording *rec, const struct task *t)
{
	struct buf name = BUF_INIT, stable = BUF_INIT;
	bool differs;

	if (*t->name != '/')
		return false;
	name_add_task(&name, rec, t);
	name_add_stable(&stable, rec, t);
	differs = strcmp(buf_str(&name), buf_str(&stable)) != 0;
	buf_release(&name);
	buf_release(&stable);
	return differs;
}

/* Only what makes a file that others could wait for. */
static bool is_file(const struct graph *g, uint32_t target)
{
	const struct nesting *nest = g->s->nest;
	const struct task *t = &g->s->rec->task[g->s->target[target].first_task];

	if (!*t->name || task_is_shell(t) || name_is_recipe(g->s->rec, t) ||
	    is_temporary(g->s->rec, t))
		return false;
	for (uint32_t i = g->s->target[target].first_task; i != NO_INDEX; i = nest[i].next) {
		if (g->s->rec->task[i].hosts || g->s->rec->task[i].state != TASK_DONE)
			return false;
	}
	return true;
}

static int longest_first(const void *a, const void *b)
{
	const struct unread_item *x = a, *y = b;

	if (x->goal != y->goal)
		return x->goal - y->goal;
	return x->wall_us != y->wall_us ? array_order(y->wall_us, x->wall_us) :
	       array_order(x->target, y->target);
}

int unread_find(struct unread *u, const struct graph *g)
{
	const struct summary *s = g->s;

	*u = (struct unread){ .known = g->c->waits.has_dependencies };
	for (uint32_t i = 0; u->known && i < s->n_targets; i++) {
		const struct task *t = &s->rec->task[s->target[i].first_task];
		struct unread_item *item;

		if (!is_file(g, i) || is_read(g, i))
			continue;
		item = array_add(&u->item, &u->n, sizeof *item);
		if (!item)
			return -ENOMEM;
		*item = (struct unread_item){ i, summary_target_cost(s, &s->target[i]).wall_us,
			names_it(s->rec->instance[t->instance].command, t->name) };
		if (!item->goal)
			u->wall_us = sat_add(u->wall_us, item->wall_us);
	}
	if (u->n)
		qsort(u->item, u->n, sizeof *u->item, longest_first);
	return 0;
}

void unread_release(struct unread *u)
{
	free(u->item);
	*u = (struct unread){ 0 };
}
