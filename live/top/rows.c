/* SPDX-License-Identifier: MIT */
#include "live/top/rows.h"
#include "base/array.h"
#include "base/clock.h"
#include "recording/follow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define DEPTH_MAX 64

bool top_row_has(const struct top_row *row, const char *text)
{
	return strcasestr(row->task, text) || (row->process && strcasestr(row->process->words, text)) ||
	       (row->process && strcasestr(row->process->process->name, text));
}

#define OF_PROCESS (1u << VALUE_CPU | 1u << VALUE_MEMORY | 1u << VALUE_WALL | 1u << VALUE_FAULTS)

int64_t top_value(const struct top_row *r, enum value v)
{
	const struct listed *p = r->process ? r->process->process : NULL;

	switch (v) {
	case VALUE_WALL: return r->age_us;
	case VALUE_CPU: return p ? p->cpu_permille : -1;
	case VALUE_MEMORY: return p ? (int64_t)p->rss_kb : -1;
	case VALUE_FAULTS: return p ? p->faults : -1;
	default: return -1;
	}
}

const char *top_sort_title(int sort)
{
	static const char *const other[] = { "pid", "task", "command" };

	return sort < VALUES ? value_info[sort].title : other[sort - TOP_BY_PID];
}

int top_sort_next(int sort, int step)
{
	do
		sort = (sort + step + TOP_SORTS) % TOP_SORTS;
	while (sort < VALUES ? !(OF_PROCESS >> sort & 1) : sort < TOP_BY_PID);
	return sort;
}

static int32_t pid_of(const struct top_row *r)
{
	return r->process ? r->process->process->pid : -1;
}

/* The largest number first, texts by the alphabet; up: the other way round. */
static int by_column(const void *a, const void *b, void *context)
{
	const struct top_row *x = a, *y = b;
	const struct top_order *o = context;
	int by = 0, by_pid = array_order(pid_of(x), pid_of(y));

	if (o->sort == TOP_BY_TASK)
		by = strcmp(x->task, y->task);
	else if (o->sort == TOP_BY_COMMAND && x->process && y->process)
		by = strcmp(x->process->words, y->process->words);
	else if (o->sort == TOP_BY_PID)
		by = by_pid;
	else if (o->sort < VALUES)
		by = array_order(top_value(y, (enum value)o->sort), top_value(x, (enum value)o->sort));
	if (!by)
		return by_pid;
	return o->up ? -by : by;
}

static struct top_row *add(struct top_rows *rows)
{
	struct top_row *r = array_add(&rows->row, &rows->n, sizeof *r);

	if (r)
		*r = (struct top_row){ .task = "" };
	return r;
}

static int64_t begun(const struct now *n, const struct task *t)
{
	int64_t elapsed = now_elapsed_us(n, clock_mono_ns());

	return elapsed > t->start_us ? elapsed - t->start_us : 0;
}

/* The task that began with this process. */
static const struct task *task_of(const struct top_model *m, int32_t pid)
{
	for (size_t i = 0; pid > 0 && i < m->now->n_tasks; i++) {
		const struct task *t = &m->now->rec->task[m->now->task[i]];

		if (t->pid == pid)
			return t;
	}
	return NULL;
}

static int add_processes(struct top_rows *rows, const struct top_model *m)
{
	for (size_t i = 0; i < m->processes.n; i++) {
		const struct process_row *p = &m->processes.row[i];
		const struct task *t = m->ended ? NULL : task_of(m, p->process->pid);
		struct top_row *r = add(rows);

		if (!r)
			return -ENOMEM;
		r->process = p;
		r->task = t ? follow_name(t) : p->task && p->task->name ? p->task->name : "";
		r->age_us = p->process->age_us;
	}
	return 0;
}

static bool has_process(const struct top_model *m, const struct task *t)
{
	char id[NOW_ID_MAX];

	now_id(id, m->now, t);
	for (size_t i = 0; i < m->processes.n; i++) {
		const struct build_task *of = m->processes.row[i].task;

		if (m->processes.row[i].process->pid == t->pid || (of && !strcmp(of->id, id)))
			return true;
	}
	return false;
}

static int add_tasks(struct top_rows *rows, const struct top_model *m)
{
	for (size_t i = 0; !m->ended && i < m->now->n_tasks; i++) {
		const struct task *t = &m->now->rec->task[m->now->task[i]];
		struct top_row *r;

		if (t->hosts || has_process(m, t))
			continue;
		r = add(rows);
		if (!r)
			return -ENOMEM;
		r->task = follow_name(t);
		r->age_us = begun(m->now, t);
	}
	return 0;
}

/* Children follow their parents: rows are sorted, and their order among siblings stays. */
struct tree {
	const struct top_rows *from;
	struct top_row *to;
	size_t n;
	bool *done;
};

static bool is_child(const struct top_row *r, const struct top_row *parent)
{
	return r->process && parent->process && r->process->process->parent == parent->process->process->pid;
}

static void descend(struct tree *t, size_t at, uint32_t depth)
{
	if (t->done[at])
		return;
	t->done[at] = true;
	t->to[t->n] = t->from->row[at];
	t->to[t->n++].depth = depth;
	for (size_t i = 0; depth < DEPTH_MAX && i < t->from->n; i++) {
		if (is_child(&t->from->row[i], &t->from->row[at]))
			descend(t, i, depth + 1);
	}
}

static bool has_parent(const struct top_rows *rows, size_t at)
{
	for (size_t i = 0; i < rows->n; i++) {
		if (i != at && is_child(&rows->row[at], &rows->row[i]))
			return true;
	}
	return false;
}

static int as_tree(struct top_rows *rows)
{
	struct tree t = { .from = rows, .to = calloc(rows->n + 1, sizeof *t.to),
			  .done = calloc(rows->n + 1, sizeof *t.done) };
	int r = t.to && t.done ? 0 : -ENOMEM;

	for (size_t i = 0; !r && i < rows->n; i++) {
		if (!has_parent(rows, i))
			descend(&t, i, 0);
	}
	/* below DEPTH_MAX */
	for (size_t i = 0; !r && i < rows->n; i++)
		descend(&t, i, DEPTH_MAX);
	free(t.done);
	if (r) {
		free(t.to);
		return r;
	}
	free(rows->row);
	rows->row = t.to;
	return 0;
}

static void apply_filter(struct top_rows *rows, const char *filter)
{
	size_t n = 0;

	for (size_t i = 0; i < rows->n; i++) {
		if (top_row_has(&rows->row[i], filter))
			rows->row[n++] = rows->row[i];
	}
	rows->n = n;
}

int top_rows_make(struct top_rows *rows, const struct top_model *m, const struct top_order *order)
{
	int r;

	*rows = (struct top_rows){ 0 };
	r = add_processes(rows, m);
	if (!r)
		r = add_tasks(rows, m);
	if (!r && rows->n) {
		qsort_r(rows->row, rows->n, sizeof *rows->row, by_column, (void *)order);
		if (order->tree)
			r = as_tree(rows);
		apply_filter(rows, order->filter);
	}
	if (r) {
		free(rows->row);
		*rows = (struct top_rows){ 0 };
	}
	return r;
}
