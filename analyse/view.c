/* SPDX-License-Identifier: MIT */
#include "analyse/view.h"

#include "analyse/names.h"
#include "base/array.h"
#include "base/cursor.h"
#include "base/index.h"
#include "base/saturate.h"
#include "base/sort.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

const char *const view_sort_word[SORT_KEYS + 1] = {
	"wall", "cpu", "memory", "io", "start", "name", NULL
};

/* Selecting */

static bool is_pattern(const char *s)
{
	return strpbrk(s, "*?[");
}

static bool text_matches(const char *filter, bool pattern, const char *text)
{
	return pattern ? !fnmatch(filter, text, 0) : strstr(text, filter) != NULL;
}

/* INSTANCE.NUMBER, as in tasks.log */
static bool has_id(const struct recording *rec, const struct task *t, const char *id)
{
	const char *inst = rec->instance[t->instance].id;
	size_t n = strlen(inst);
	uint64_t seq;

	return !strncmp(id, inst, n) && id[n] == '.' &&
	       cursor_slice_u64(slice_of(id + n + 1), &seq) && seq == t->seq;
}

static bool is_called(const struct recording *rec, const struct task *t, const char *name)
{
	struct buf b = BUF_INIT;
	bool is;

	if (!strcmp(t->name, name) || has_id(rec, t, name))
		return true;
	name_add_task(&b, rec, t);
	is = !strcmp(buf_str(&b), name);
	buf_release(&b);
	return is;
}

static bool task_matches(const struct recording *rec, const struct selection *sel,
			 bool pattern, const struct task *t)
{
	if (sel->unsuccessful && (t->state == TASK_DONE || t->state == TASK_QUEUED))
		return false;
	if ((sel->kind && strcmp(t->kind, sel->kind)) ||
	    (sel->task && !is_called(rec, t, sel->task)))
		return false;
	return !sel->filter || text_matches(sel->filter, pattern, t->name) ||
	       (*t->key && text_matches(sel->filter, pattern, t->key)) ||
	       !strcmp(sel->filter, t->kind) ||
	       text_matches(sel->filter, pattern, recording_command(rec, t));
}

static void select_tasks(struct view *v, const struct selection *sel)
{
	const struct summary *s = v->sum;
	bool pattern = sel->filter && is_pattern(sel->filter);

	if (v->all) {
		v->n_tasks = s->rec->n_tasks;
		memcpy(v->task, s->order, v->n_tasks * sizeof *v->task);
		return;
	}
	for (size_t i = 0; i < s->rec->n_tasks; i++) {
		if (task_matches(s->rec, sel, pattern, &s->rec->task[s->order[i]]))
			v->task[v->n_tasks++] = s->order[i];
	}
}

static void select_targets(struct view *v)
{
	const struct summary *s = v->sum;

	for (size_t i = 0; i < v->n_tasks && !v->all; i++) {
		uint32_t target = s->nest[v->task[i]].target;

		if (target != NO_INDEX)
			v->target[target] = 1;
	}
	for (size_t i = 0; i < s->n_targets; i++) {
		if (v->all || v->target[i])
			v->target[v->n_targets++] = (uint32_t)i;
	}
}

bool view_has_task(const struct view *v, uint32_t task)
{
	bool has = v->all;

	for (size_t i = 0; !has && i < v->n_tasks; i++)
		has = v->task[i] == task;
	return has;
}

static int collect_unsuccessful(struct view *v)
{
	const struct task *task = v->sum->rec->task;
	const size_t *n = v->sum->n_state;

	v->unsuccessful = malloc((n[TASK_FAILED] + n[TASK_KILLED] + n[TASK_UNFINISHED] + 1) *
				 sizeof *v->unsuccessful);
	if (!v->unsuccessful)
		return -ENOMEM;
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < v->n_tasks; i++) {
			enum task_state state = task[v->task[i]].state;

			if (pass ? state == TASK_UNFINISHED :
			    state == TASK_FAILED || state == TASK_KILLED)
				v->unsuccessful[v->n_unsuccessful++] = v->task[i];
		}
	}
	return 0;
}

/* Kinds */

/* Each kind has one text. NULL when out of memory. */
static struct kind *find_kind(struct view *v, struct index *kinds, const char *name)
{
	struct kind *grown;
	uint32_t at;

	if (index_find(kinds, (uintptr_t)name, 0, &at))
		return &v->kind[at];
	grown = array_grow(v->kind, v->n_kinds, sizeof *grown);
	if (!grown)
		return NULL;
	v->kind = grown;
	if (index_put(kinds, (uintptr_t)name, 0, (uint32_t)v->n_kinds))
		return NULL;
	grown[v->n_kinds] = (struct kind){ .name = name };
	return &grown[v->n_kinds++];
}

static int by_wall(const void *a, const void *b)
{
	const struct kind *x = a, *y = b;

	if (x->cost.wall_us != y->cost.wall_us)
		return x->cost.wall_us < y->cost.wall_us ? 1 : -1;
	return strcmp(x->name, y->name);
}

static int add_to_kinds(struct view *v, struct index *kinds)
{
	const struct summary *s = v->sum;
	struct kind *k = NULL;

	for (size_t i = 0; i < v->n_tasks; i++) {
		const struct task *t = &s->rec->task[v->task[i]];

		if (!task_ran(t))
			continue;
		if (!k || k->name != t->kind)
			k = find_kind(v, kinds, t->kind);
		if (!k)
			return -ENOMEM;
		k->n_tasks++;
		cost_add(&k->cost, &s->nest[v->task[i]].cost);
	}
	return 0;
}

static int sum_kinds(struct view *v)
{
	struct index kinds = INDEX_INIT;
	int r = add_to_kinds(v, &kinds);

	index_release(&kinds);
	if (r)
		return r;
	for (size_t i = 0; i < v->n_kinds; i++)
		cost_add(&v->cost, &v->kind[i].cost);
	if (v->n_kinds)
		qsort(v->kind, v->n_kinds, sizeof *v->kind, by_wall);
	return 0;
}

int view_make(struct view *v, const struct summary *s, const struct selection *sel)
{
	*v = (struct view){ .sum = s, .all = !sel->filter && !sel->kind && !sel->unsuccessful &&
				 !sel->task };
	v->task = malloc((s->rec->n_tasks + 1) * sizeof *v->task);
	v->target = calloc(s->n_targets + 1, sizeof *v->target);
	if (!v->task || !v->target)
		return -ENOMEM;
	select_tasks(v, sel);
	select_targets(v);
	if (collect_unsuccessful(v) || sum_kinds(v))
		return -ENOMEM;
	return recording_command_error(s->rec);
}

void view_release(struct view *v)
{
	free(v->task);
	free(v->unsuccessful);
	free(v->target);
	free(v->kind);
	*v = (struct view){ 0 };
}

/* Ranking */

struct ranking {
	const struct summary *sum;
	enum sort_key key;
	bool tasks;
};

int64_t view_cost(const struct cost *c, enum sort_key key)
{
	switch (key) {
	case SORT_WALL:
		return c->wall_us;
	case SORT_CPU:
		return c->cpu_us;
	case SORT_MEMORY:
		return c->memory_kb;
	case SORT_IO:
		return sat_add(c->read_bytes, c->written_bytes);
	default:
		return 0;
	}
}

int64_t view_target_cost(const struct summary *s, const struct target *g, enum sort_key key)
{
	struct cost sum;

	if (g->n_tasks == 1)
		return view_cost(&s->nest[g->first_task].cost, key);
	sum = summary_target_cost(s, g);
	return view_cost(&sum, key);
}

static bool before(const void *ctx, uint32_t a, uint32_t b)
{
	const struct ranking *r = ctx;
	const struct summary *s = r->sum;
	const struct target *g = &s->target[r->tasks ? 0 : a], *h = &s->target[r->tasks ? 0 : b];
	const struct task *t = &s->rec->task[r->tasks ? a : g->first_task];
	const struct task *u = &s->rec->task[r->tasks ? b : h->first_task];
	int64_t x, y;
	int order;

	switch (r->key) {
	case SORT_START:
		/* as unsigned numbers, those that never started are behind all that did */
		x = r->tasks ? t->start_us : g->start_us;
		y = r->tasks ? u->start_us : h->start_us;
		return x != y ? (uint64_t)x < (uint64_t)y : a < b;
	case SORT_NAME:
		order = strcmp(t->name, u->name);
		return order ? order < 0 : a < b;
	default:
		x = r->tasks ? view_cost(&s->nest[a].cost, r->key) : view_target_cost(s, g, r->key);
		y = r->tasks ? view_cost(&s->nest[b].cost, r->key) : view_target_cost(s, h, r->key);
		return x != y ? x > y : a < b;
	}
}

size_t view_top_targets(struct view *v, enum sort_key key, size_t top)
{
	struct ranking r = { v->sum, key, false };

	return sort_top(v->target, v->n_targets, top, before, &r);
}

size_t view_top_tasks(struct view *v, enum sort_key key, size_t top)
{
	struct ranking r = { v->sum, key, true };

	return sort_top(v->task, v->n_tasks, top, before, &r);
}

static bool uses_more(const void *ctx, uint32_t a, uint32_t b)
{
	const struct program *p = ctx, *x = &p[a], *y = &p[b];

	if (x->cpu_us != y->cpu_us)
		return x->cpu_us > y->cpu_us;
	if (x->wall_us != y->wall_us)
		return x->wall_us > y->wall_us;
	return a < b;
}

uint32_t *view_top_programs(const struct recording *rec, size_t top, size_t *n)
{
	uint32_t *index = malloc((rec->n_programs + 1) * sizeof *index);

	if (!index)
		return NULL;
	for (uint32_t i = 0; i < rec->n_programs; i++)
		index[i] = i;
	*n = sort_top(index, rec->n_programs, top, uses_more, rec->program);
	return index;
}
