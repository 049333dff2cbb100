/* SPDX-License-Identifier: MIT */
#include "analyse/view.h"

#include "analyse/names.h"
#include "base/array.h"
#include "base/cursor.h"
#include "base/sort.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>

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
		v->n_tasks = s->n_tasks;
		memcpy(v->task, s->order, v->n_tasks * sizeof *v->task);
		return;
	}
	for (size_t i = 0; i < s->n_tasks; i++) {
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

	v->unsuccessful = array_new(n[TASK_FAILED] + n[TASK_KILLED] + n[TASK_UNFINISHED],
				    sizeof *v->unsuccessful);
	if (!v->unsuccessful)
		return -ENOMEM;
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < v->n_tasks; i++) {
			const struct task *t = &task[v->task[i]];

			if (pass ? t->state == TASK_UNFINISHED : task_has_failed(t))
				v->unsuccessful[v->n_unsuccessful++] = v->task[i];
		}
	}
	return 0;
}

int view_make(struct view *v, const struct summary *s, const struct selection *sel)
{
	*v = (struct view){
		.sum = s, .selection = *sel,
		.all = !sel->filter && !sel->kind && !sel->unsuccessful && !sel->task,
	};
	v->task = array_new(s->rec->n_tasks, sizeof *v->task);
	v->target = array_new_zero(s->n_targets, sizeof *v->target);
	if (!v->task || !v->target)
		return -ENOMEM;
	select_tasks(v, sel);
	select_targets(v);
	if (collect_unsuccessful(v) ||
	    groups_make(&v->kinds, s, v->task, v->n_tasks, false, GROUPS_KIND))
		return -ENOMEM;
	v->cost = v->kinds.total.cost;
	return recording_command_error(s->rec);
}

void view_release(struct view *v)
{
	free_all(v->task, v->unsuccessful, v->target);
	groups_release(&v->kinds);
	*v = (struct view){ 0 };
}

/* Ranking */

struct ranking {
	const struct summary *sum;
	enum value key;
	bool tasks;
};

static const struct task *first_task(const struct ranking *r, uint32_t i)
{
	return &r->sum->rec->task[r->tasks ? i : r->sum->target[i].first_task];
}

/* Most targets have one task. */
static const struct cost *cost_of(struct cost *sum, const struct ranking *r, uint32_t i)
{
	const struct target *g = &r->sum->target[r->tasks ? 0 : i];

	if (r->tasks || g->n_tasks == 1)
		return &r->sum->nest[r->tasks ? i : g->first_task].cost;
	*sum = summary_target_cost(r->sum, g);
	return sum;
}

static bool before(const void *ctx, uint32_t a, uint32_t b)
{
	const struct ranking *r = ctx;
	struct cost x, y;
	int order = r->key == VALUE_NAME ? strcmp(first_task(r, a)->name, first_task(r, b)->name) :
		    value_order(r->key, cost_of(&x, r, a), cost_of(&y, r, b));

	return order ? order < 0 : a < b;
}

size_t view_top_targets(struct view *v, enum value key, size_t top)
{
	struct ranking r = { v->sum, key, false };

	return sort_top(v->target, v->n_targets, top, before, &r);
}

size_t view_top_tasks(struct view *v, enum value key, size_t top)
{
	struct ranking r = { v->sum, key, true };

	return sort_top(v->task, v->n_tasks, top, before, &r);
}
