/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "compare/diff_parts.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

static bool fits_filter(const char *filter, const char *name)
{
	if (!filter || !name)
		return !filter;
	if (strpbrk(filter, "*?["))
		return !fnmatch(filter, name, 0);
	return strstr(name, filter) != NULL;
}

static int new_task(struct diff_making *m, const struct values_task *t)
{
	struct diff *d = m->d;
	struct diff_task *grown = array_grow(d->task, d->n_tasks, sizeof *grown);
	uint32_t *row;

	if (!grown)
		return -ENOMEM;
	d->task = grown;
	row = array_grow(m->row, d->n_tasks, m->n_runs * sizeof *row);
	if (!row)
		return -ENOMEM;
	m->row = row;
	memset(row + d->n_tasks * m->n_runs, 0xff, m->n_runs * sizeof *row);
	grown[d->n_tasks++] = (struct diff_task){ .name = t->name, .kind = t->kind };
	return 0;
}

/* Of the next task of each run, the one with the first name; NULL at the end of all runs. */
static const struct values_task *least_of(const struct diff_making *m, const uint32_t *next)
{
	const struct values_task *least = NULL;

	for (size_t i = 0; i < m->n_runs; i++) {
		const struct values *f = diff_run(m->d, i);

		if (next[i] < f->n_tasks &&
		    (!least || strcmp(f->task[next[i]].name, least->name) < 0))
			least = &f->task[next[i]];
	}
	return least;
}

static int merge_names(struct diff_making *m)
{
	uint32_t *next = calloc(m->n_runs, sizeof *next), *row;
	const struct values_task *t;
	int r = next ? 0 : -ENOMEM;

	while (!r && (t = least_of(m, next))) {
		r = new_task(m, t);
		row = r ? NULL : m->row + (m->d->n_tasks - 1) * m->n_runs;
		for (size_t i = 0; !r && i < m->n_runs; i++) {
			const struct values *f = diff_run(m->d, i);

			if (next[i] < f->n_tasks && !strcmp(f->task[next[i]].name, t->name))
				row[i] = next[i]++;
		}
	}
	free(next);
	return r;
}

static void set_presence(struct diff_making *m)
{
	struct diff *d = m->d;

	for (size_t i = 0; i < d->n_tasks; i++) {
		bool in[DIFF_SIDES] = { false };

		for (size_t run = 0; run < m->n_runs; run++)
			in[diff_side_of(d, run)] |= m->row[i * m->n_runs + run] != NO_ROW;
		d->task[i].presence = !in[DIFF_BASE] ? DIFF_NEW : !in[DIFF_NOW] ? DIFF_GONE :
				      DIFF_BOTH;
	}
}

static int by_package(const void *key, const void *item)
{
	return strcmp(key, ((const struct values_package *)item)->name);
}

static bool has_package(const struct diff *d, enum diff_side s, const char *name)
{
	for (size_t i = 0; i < d->n_runs[s]; i++) {
		const struct values *f = &d->run[s][i];

		if (f->n_packages &&
		    bsearch(name, f->package, f->n_packages, sizeof *f->package, by_package))
			return true;
	}
	return false;
}

static struct rename_task rename_of(const struct diff *d, const struct diff_task *t,
				    enum diff_side of)
{
	struct rename_task rename = { .name = t->name, .kind = t->kind };
	const char *end = strstr(t->name, ": ");
	char package[256];

	if (!end || (size_t)(end - t->name) >= sizeof package)
		return rename;
	memcpy(package, t->name, (size_t)(end - t->name));
	package[end - t->name] = '\0';
	rename.recipe = has_package(d, of, package);
	rename.whole = rename.recipe && !has_package(d, of == DIFF_BASE ? DIFF_NOW : DIFF_BASE,
						     package);
	return rename;
}

/* Lists the tasks that are gone, or new. */
static size_t list_lost(const struct diff *d, enum diff_presence presence,
			struct rename_task *list, uint32_t *task)
{
	size_t n = 0;

	for (size_t i = 0; i < d->n_tasks; i++) {
		if (d->task[i].presence != presence)
			continue;
		list[n] = rename_of(d, &d->task[i], presence == DIFF_GONE ? DIFF_BASE : DIFF_NOW);
		task[n++] = (uint32_t)i;
	}
	return n;
}

/* The new task takes the rows of the one that is gone, which becomes unused. */
static void join_renamed(struct diff_making *m, uint32_t gone, uint32_t now,
			 enum rename_reason reason)
{
	struct diff_task *t = &m->d->task[now];

	memcpy(m->row + now * m->n_runs, m->row + gone * m->n_runs,
	       m->d->n_runs[DIFF_BASE] * sizeof *m->row);
	t->was = m->d->task[gone].name;
	t->renamed = reason;
	t->presence = DIFF_BOTH;
	m->d->task[gone].name = NULL;
}

static int find_renamed(struct diff_making *m)
{
	struct diff *d = m->d;
	struct rename_task *gone = array_new(2 * (d->n_tasks + 1), sizeof *gone);
	struct rename_task *now;
	uint32_t *task = array_new(2 * (d->n_tasks + 1), sizeof *task);
	size_t n_gone, n_now;
	int r = -ENOMEM;

	if (gone && task) {
		now = gone + d->n_tasks;
		n_gone = list_lost(d, DIFF_GONE, gone, task);
		n_now = list_lost(d, DIFF_NEW, now, task + d->n_tasks);
		r = renames_find(gone, n_gone, now, n_now);
		for (size_t i = 0; !r && i < n_gone; i++) {
			if (gone[i].reason != RENAME_NONE)
				join_renamed(m, task[i], task[d->n_tasks + gone[i].other],
					     gone[i].reason);
		}
	}
	free(gone);
	free(task);
	return r;
}

static void count_sides(struct diff *d)
{
	for (size_t i = 0; i < d->n_tasks; i++) {
		const struct diff_task *t = &d->task[i];

		d->n_base += t->name && t->presence != DIFF_NEW;
		d->n_now += t->name && t->presence != DIFF_GONE;
		d->n_both += t->name && t->presence == DIFF_BOTH;
	}
}

/* Removes unused tasks and those that the filter excludes. */
static void drop_unwanted(struct diff_making *m)
{
	struct diff *d = m->d;
	size_t n = 0, width = m->n_runs * sizeof *m->row;

	for (size_t i = 0; i < d->n_tasks; i++) {
		const struct diff_task *t = &d->task[i];

		if (!t->name || !(fits_filter(m->filter, t->name) ||
				  (t->was && fits_filter(m->filter, t->was))))
			continue;
		memmove(m->row + n * m->n_runs, m->row + i * m->n_runs, width);
		d->task[n++] = *t;
	}
	d->n_tasks = n;
}

static void set_status(struct diff_making *m, size_t task)
{
	struct diff_task *t = &m->d->task[task];

	t->status[DIFF_BASE] = t->status[DIFF_NOW] = -1;
	t->parts[DIFF_BASE] = t->parts[DIFF_NOW] = -1;
	for (size_t i = 0; i < m->n_runs; i++) {
		const struct values *f = diff_run(m->d, i);
		uint32_t row = m->row[task * m->n_runs + i];
		const int64_t *status = f->column[COLUMN_STATUS], *runs = f->column[COLUMN_RUNS];
		enum diff_side s = diff_side_of(m->d, i);

		if (row == NO_ROW)
			continue;
		if (status && status[row] > t->status[s])
			t->status[s] = status[row];
		if (runs && runs[row] > t->parts[s])
			t->parts[s] = runs[row];
		t->n_failed[s] += status && status[row] > 0;
	}
	if (t->presence == DIFF_BOTH && t->status[DIFF_BASE] >= 0 && t->status[DIFF_NOW] >= 0) {
		bool failed = t->status[DIFF_BASE], fails = t->status[DIFF_NOW];

		t->end = failed && !fails ? DIFF_END_FIXED : fails && !failed ? DIFF_END_FAILS :
			 t->status[DIFF_BASE] != t->status[DIFF_NOW] ? DIFF_END_OTHER :
			 DIFF_END_SAME;
	} else if (t->status[DIFF_NOW] > 0) {
		t->end = DIFF_END_FAILS;
	}
}

int diff_match(struct diff_making *m)
{
	struct diff *d = m->d;
	int r = merge_names(m);

	if (r)
		return r;
	set_presence(m);
	r = find_renamed(m);
	if (r)
		return r;
	count_sides(d);
	drop_unwanted(m);
	for (size_t i = 0; i < d->n_tasks; i++) {
		const struct diff_task *t = &d->task[i];

		set_status(m, i);
		d->n_new += t->presence == DIFF_NEW;
		d->n_gone += t->presence == DIFF_GONE;
		d->n_renamed += t->was != NULL;
		d->n_fails += t->end == DIFF_END_FAILS;
		d->n_fixed += t->end == DIFF_END_FIXED;
	}
	return 0;
}
