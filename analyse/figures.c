/* SPDX-License-Identifier: MIT */
#include "analyse/figures.h"

#include "base/arena.h"
#include "base/saturate.h"

#include <stdlib.h>
#include <string.h>

void figures_release(struct figures *f)
{
	for (int c = 0; c < COLUMNS; c++)
		free(f->column[c]);
	free(f->fact);
	free(f->task);
	free(f->package);
	arena_free(f->texts);
	*f = (struct figures){ 0 };
}

double figures_value(const struct figures *f, size_t task, enum metric m)
{
	const enum figure_column *c = metric_info[m].column;
	const int64_t *a = f->column[c[0]], *b = f->column[c[1]];

	if (!a || !b || a[task] < 0 || b[task] < 0)
		return NAN;
	return (double)(a == b ? a[task] : sat_add(a[task], b[task]));
}

const char *figures_fact(const struct figures *f, const char *key)
{
	for (size_t i = 0; i < f->n_facts; i++) {
		if (!strcmp(f->fact[i].key, key))
			return f->fact[i].value;
	}
	return NULL;
}

static int by_package(const void *key, const void *item)
{
	return strcmp(key, ((const struct figures_package *)item)->name);
}

const char *figures_version(const struct figures *f, size_t task)
{
	const char *name = f->task[task].name, *end = strstr(name, ": ");
	const struct figures_package *found;
	char package[256];

	if (!f->n_packages || !end || (size_t)(end - name) >= sizeof package)
		return NULL;
	memcpy(package, name, (size_t)(end - name));
	package[end - name] = '\0';
	found = bsearch(package, f->package, f->n_packages, sizeof *f->package, by_package);
	return found ? found->version : NULL;
}

static int by_task(const void *key, const void *item)
{
	return strcmp(key, ((const struct figures_task *)item)->name);
}

size_t figures_find(const struct figures *f, const char *name)
{
	const struct figures_task *found;

	found = f->n_tasks ? bsearch(name, f->task, f->n_tasks, sizeof *f->task, by_task) : NULL;
	return found ? (size_t)(found - f->task) : f->n_tasks;
}
