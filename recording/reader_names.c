/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "recording/reader.h"

#include "base/field.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The lists of names tasks have, all of one sort in one array: of each task a
 * stretch. */

enum sort { AFTER, OUT };

struct names {
	const char ***name;	/* the array */
	size_t *cap, *n;
	uint32_t **task;	/* of each, once they are out of order; until then NULL */
	enum sort sort;
};

static struct names names_of(struct reader *r, enum sort sort)
{
	if (sort == AFTER)
		return (struct names){ &r->rec->after, &r->after_cap, &r->rec->n_after,
			&r->after_task, sort };
	return (struct names){ &r->rec->out, &r->out_cap, &r->rec->n_out, &r->out_task, sort };
}

struct stretch {
	uint32_t *first, *n;
};

static struct stretch stretch_of(struct task *t, enum sort sort)
{
	if (sort == AFTER)
		return (struct stretch){ &t->first_after, &t->n_after };
	return (struct stretch){ &t->first_out, &t->n_out };
}

/* The lists of two tasks are mixed, so each name must know its task. */
static int scatter(struct recording *rec, const struct names *l)
{
	size_t cap = ARRAY_FIRST;

	while (cap < *l->n)
		cap *= 2;
	*l->task = malloc(cap * sizeof **l->task);
	if (!*l->task)
		return -ENOMEM;
	for (size_t i = 0; i < rec->n_tasks; i++) {
		struct stretch s = stretch_of(&rec->task[i], l->sort);

		for (size_t k = 0; k < *s.n; k++)
			(*l->task)[*s.first + k] = (uint32_t)i;
	}
	return 0;
}

static int add_name(struct recording *rec, const struct names *l, uint32_t task,
		    const char *name)
{
	struct stretch s = stretch_of(&rec->task[task], l->sort);
	const char **names;
	uint32_t *tasks;

	if (!*s.n)
		*s.first = (uint32_t)*l->n;
	if (*l->n == UINT32_MAX)
		return -ENOMEM;
	if (*s.first + *s.n != *l->n && !*l->task && scatter(rec, l))
		return -ENOMEM;
	names = array_make_room(*l->name, l->cap, *l->n, sizeof *names);
	if (!names)
		return -ENOMEM;
	*l->name = names;
	if (*l->task) {
		tasks = array_grow(*l->task, *l->n, sizeof *tasks);
		if (!tasks)
			return -ENOMEM;
		*l->task = tasks;
		tasks[*l->n] = task;
	}
	names[(*l->n)++] = name;
	++*s.n;
	return 0;
}

static int add_names(struct reader *r, enum sort sort, uint32_t task, struct slice names)
{
	struct names list = names_of(r, sort);
	char *p = arena_text(r->rec->arena, names.p, names.len);
	const char *end = p + names.len;
	bool escaped = p && memchr(p, '\\', names.len);
	int error = p ? 0 : -ENOMEM;

	while (!error && p < end) {
		char *tab = memchr(p, '\t', (size_t)(end - p));
		size_t len = (size_t)((tab ? tab : end) - p);

		p[escaped ? field_decode(p, len, NULL) : len] = '\0';
		if (*p)
			error = add_name(r->rec, &list, task, p);
		p += len + 1;
	}
	return error;
}

int reader_after(struct reader *r, uint32_t task, struct slice names)
{
	return add_names(r, AFTER, task, names);
}

int reader_out(struct reader *r, uint32_t task, struct slice names)
{
	return add_names(r, OUT, task, names);
}

/* Names in the order of their tasks, each task's in the order they came. */
static int sort_names(struct recording *rec, const struct names *l)
{
	const char **sorted;
	size_t at = 0;

	if (!*l->task)
		return 0;
	sorted = malloc((*l->n + 1) * sizeof *sorted);
	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < rec->n_tasks; i++) {
		struct stretch s = stretch_of(&rec->task[i], l->sort);

		*s.first = (uint32_t)at;
		at += *s.n;
		*s.n = 0;
	}
	for (size_t i = 0; i < *l->n; i++) {
		struct stretch s = stretch_of(&rec->task[(*l->task)[i]], l->sort);

		sorted[*s.first + (*s.n)++] = (*l->name)[i];
	}
	free(*l->name);
	*l->name = sorted;
	return 0;
}

int reader_sort_names(struct reader *r)
{
	struct names after = names_of(r, AFTER), out = names_of(r, OUT);
	int error = sort_names(r->rec, &after);

	return error ? error : sort_names(r->rec, &out);
}
