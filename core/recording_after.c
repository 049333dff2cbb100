#include "reader.h"

#include "field.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The lists of two tasks are mixed: from here on each name knows its task. */
static int scatter_after(struct reader *r)
{
	struct recording *rec = r->rec;
	size_t cap = 16;

	while (cap < rec->n_after)
		cap *= 2;
	r->after_task = malloc(cap * sizeof *r->after_task);
	if (!r->after_task)
		return -ENOMEM;
	for (size_t i = 0; i < rec->n_tasks; i++) {
		const struct task *t = &rec->task[i];

		for (size_t k = 0; k < t->n_after; k++)
			r->after_task[t->first_after + k] = (uint32_t)i;
	}
	return 0;
}

static int add_name(struct reader *r, uint32_t task, const char *name)
{
	struct recording *rec = r->rec;
	struct task *t = &rec->task[task];
	const char **names;
	uint32_t *tasks;

	if (!t->n_after)
		t->first_after = (uint32_t)rec->n_after;
	if (rec->n_after == UINT32_MAX)
		return -ENOMEM;
	if (t->first_after + t->n_after != rec->n_after && !r->after_task && scatter_after(r))
		return -ENOMEM;
	names = array_grow(rec->after, rec->n_after, sizeof *names);
	if (!names)
		return -ENOMEM;
	rec->after = names;
	if (r->after_task) {
		tasks = array_grow(r->after_task, rec->n_after, sizeof *tasks);
		if (!tasks)
			return -ENOMEM;
		r->after_task = tasks;
		tasks[rec->n_after] = task;
	}
	names[rec->n_after++] = name;
	t->n_after++;
	return 0;
}

int reader_after(struct reader *r, uint32_t task, struct slice names)
{
	char *p = arena_text(r->rec->arena, names.p, names.len);
	const char *end = p + names.len;
	bool escaped = p && memchr(p, '\\', names.len);
	int error = p ? 0 : -ENOMEM;

	while (!error && p < end) {
		char *tab = memchr(p, '\t', (size_t)(end - p));
		size_t len = (size_t)((tab ? tab : end) - p);

		p[escaped ? field_decode(p, len, NULL) : len] = '\0';
		if (*p)
			error = add_name(r, task, p);
		p += len + 1;
	}
	return error;
}

/* Names in the order of their tasks, each task's in the order they came. */
int reader_sort_after(struct reader *r)
{
	struct recording *rec = r->rec;
	const char **sorted;
	size_t at = 0;

	if (!r->after_task)
		return 0;
	sorted = malloc((rec->n_after + 1) * sizeof *sorted);
	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < rec->n_tasks; i++) {
		rec->task[i].first_after = (uint32_t)at;
		at += rec->task[i].n_after;
		rec->task[i].n_after = 0;
	}
	for (size_t i = 0; i < rec->n_after; i++) {
		struct task *t = &rec->task[r->after_task[i]];

		sorted[t->first_after + t->n_after++] = rec->after[i];
	}
	free(rec->after);
	rec->after = sorted;
	return 0;
}

