/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/field.h"
#include "recording/layout.h"
#include "recording/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Lists of names of tasks. All names of one sort are in one array, where each task has a stretch. */

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

/* The lists of two tasks are mixed, so the task of each name is stored. */
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

/* The names of a line, each terminated in place. */
static int add_in(struct recording *rec, size_t *cap, struct target_group *g, const char *name)
{
	const char **in;

	if (!g->name) {
		g->name = name;
		return 0;
	}
	if (rec->n_in == UINT32_MAX)
		return -ENOMEM;
	in = array_make_room(rec->in, cap, rec->n_in, sizeof *in);
	if (!in)
		return -ENOMEM;
	rec->in = in;
	in[rec->n_in++] = name;
	g->n_in++;
	return 0;
}

int reader_group(struct reader *r, uint32_t instance, struct slice names)
{
	struct recording *rec = r->rec;
	struct target_group *g = array_add(&rec->group, &rec->n_groups, sizeof *g);
	char *p = g ? arena_text(rec->arena, names.p, names.len) : NULL;
	const char *end = p + names.len;
	int error = p ? 0 : -ENOMEM;

	if (g)
		*g = (struct target_group){ instance, (uint32_t)rec->n_in, 0, NULL };
	while (!error && p < end) {
		char *tab = memchr(p, '\t', (size_t)(end - p));
		size_t len = (size_t)((tab ? tab : end) - p);

		p[field_decode(p, len, NULL)] = '\0';
		if (*p)
			error = add_in(rec, &r->in_cap, g, p);
		p += len + 1;
	}
	if (g && (!g->name || !g->n_in))
		rec->n_groups--;
	return error;
}

/* Sort names by task; those of a task keep their order. */
static int sort_names(struct recording *rec, const struct names *l)
{
	const char **sorted;
	size_t at = 0;

	if (!*l->task)
		return 0;
	sorted = array_new(*l->n, sizeof *sorted);
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

static int sort_all_names(struct reader *r)
{
	struct names after = names_of(r, AFTER), out = names_of(r, OUT);
	int error = sort_names(r->rec, &after);

	return error ? error : sort_names(r->rec, &out);
}

/* After all files */

/* A task without a name is called after its command. */
static void name_by_command(struct reader *r, struct task *t)
{
	const char *command = recording_command(r->rec, t);

	follow_name_by_command(&r->follow, t, command, strlen(command));
}

int reader_finish_tasks(struct reader *r)
{
	struct recording *rec = r->rec;
	unsigned backwards = 0;

	for (size_t i = 0; i < rec->n_tasks; i++) {
		struct task *t = &rec->task[i];

		if (!*t->kind)
			t->kind = follow_kind_of_command(&r->follow, (struct slice){ "", 0 },
							 &t->program);
		if (!*t->name && t->command && (!r->sums_only || r->waits))
			name_by_command(r, t);
		if (t->end_us >= 0 && t->end_us < t->start_us) {
			t->end_us = t->start_us;
			backwards++;
		}
	}
	if (r->follow.no_memory || recording_command_error(rec))
		return -ENOMEM;
	if (backwards && reader_warn(r, LAYOUT_TASKS ": %u tasks end before they start; "
				     "taken as ending at once", backwards))
		return -ENOMEM;
	rec->task = array_trim(rec->task, rec->n_tasks, sizeof *rec->task);
	return sort_all_names(r);
}

void reader_release(struct reader *r)
{
	follow_release(&r->follow);
	free_all(r->reported_lost, r->last_task, r->after_task, r->out_task, r->newest, r->still,
		 r->usage_task);
	index_release(&r->spans);
	free_all(r->span_parent, r->span_end);
	index_release(&r->pools);
	name_table_release(&r->programs);
	free(r->process);
}
