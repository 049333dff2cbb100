/* SPDX-License-Identifier: MIT */
#include "compare/remaining_parts.h"
#include "analyse/names.h"
#include "base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool is_counted(const struct task *t)
{
	return t->start_us >= 0 && !t->hosts;
}

static int by_task_start(const void *a, const void *b, void *context)
{
	const struct task *task = context;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int order = array_order(task[x].start_us, task[y].start_us);

	return order ? order : array_order(x, y);
}

static bool is_sorted(const uint32_t *order, size_t n, const struct task *task)
{
	for (size_t i = 1; i < n; i++) {
		if (task[order[i - 1]].start_us > task[order[i]].start_us)
			return false;
	}
	return true;
}

static int by_end(const void *a, const void *b, void *context)
{
	const struct remaining_list *list = context;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int order = array_order(list->end_us[x], list->end_us[y]);

	return order ? order : array_order(x, y);
}

static int add_task(struct remaining *r, const char *kind, uint32_t number)
{
	void *names = array_grow(r->task_of, r->n_names, sizeof *r->task_of), *tasks;
	const char *kind_kept = arena_text(r->arena, kind, strlen(kind));

	if (!names)
		return -ENOMEM;
	r->task_of = names;
	tasks = array_grow(r->task, r->n_tasks, sizeof *r->task);
	if (!tasks || !kind_kept)
		return -ENOMEM;
	r->task = tasks;
	r->task[r->n_tasks] = (struct remaining_task){ r->names.name[number].p, kind_kept };
	r->task_of[r->n_names++] = r->n_tasks++;
	return 0;
}

/* The task with this name; with `add` it is made. *number: of the name, if there is one. */
static int find_name(uint32_t *task, uint32_t *number, struct remaining *r, struct buf *name,
		     const char *kind, bool add)
{
	struct slice text = slice_of(buf_str(name));
	int error = buf_error(name);

	if (!error && add)
		error = name_table_add(&r->names, text, number);
	else
		*number = name_table_find(&r->names, text);
	if (!error && add && *number == r->n_names)
		error = add_task(r, kind, *number);
	if (!error)
		*task = *number == NAME_TABLE_NONE ? REMAINING_NEW : r->task_of[*number];
	return error;
}

/* A task by its name and by how many of this name were before it in the build, such as the lines of a
 * recipe. count: of each name. */
static int find_task(uint32_t *task, struct remaining *r, struct buf *name, const char *kind,
		     uint32_t *count, bool add)
{
	uint32_t number, times;
	int error = find_name(task, &number, r, name, kind, add);

	if (error || number == NAME_TABLE_NONE)
		return error;
	times = count[number]++;
	if (!times)
		return 0;
	buf_addf(name, "\n%u", times);
	return find_name(task, &number, r, name, kind, add);
}

void remaining_list_release(struct remaining_list *list)
{
	free_all(list->task, list->start_us, list->end_us, list->by_end);
	*list = (struct remaining_list){ 0 };
}

static int make_room(struct remaining_list *list, size_t n)
{
	n += !n;
	list->task = array_new(n, sizeof *list->task);
	list->start_us = array_new(n, sizeof *list->start_us);
	list->end_us = array_new(n, sizeof *list->end_us);
	list->by_end = array_new(n, sizeof *list->by_end);
	return list->task && list->start_us && list->end_us && list->by_end ? 0 : -ENOMEM;
}

int remaining_list_make(struct remaining_list *list, struct remaining *r,
			const struct recording *rec, bool add)
{
	uint32_t *order = array_new(rec->n_tasks, sizeof *order);
	uint32_t *count = array_new_zero(r->names.n + 2 * rec->n_tasks, sizeof *count);
	struct buf name = { 0 };
	size_t n = 0;
	int error;

	*list = (struct remaining_list){ 0 };
	error = order && count ? make_room(list, rec->n_tasks) : -ENOMEM;
	if (error)
		goto out;
	for (size_t i = 0; i < rec->n_tasks; i++) {
		if (is_counted(&rec->task[i]))
			order[n++] = (uint32_t)i;
	}
	if (!is_sorted(order, n, rec->task))
		qsort_r(order, n, sizeof *order, by_task_start, rec->task);
	for (size_t i = 0; !error && i < n; i++) {
		const struct task *t = &rec->task[order[i]];

		buf_clear(&name);
		name_add_stable(&name, rec, t);
		error = find_task(&list->task[i], r, &name, t->kind, count, add);
		list->start_us[i] = t->start_us;
		list->end_us[i] = t->end_us >= t->start_us ? t->end_us : INT64_MAX;
		list->by_end[i] = (uint32_t)i;
	}
out:
	list->n = n;
	if (!error)
		qsort_r(list->by_end, n, sizeof *list->by_end, by_end, list);
	else
		remaining_list_release(list);
	buf_release(&name);
	free_all(order, count);
	return error;
}
