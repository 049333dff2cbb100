/* SPDX-License-Identifier: MIT */
#include "analyse/values.h"

#include "base/arena.h"
#include "base/saturate.h"

#include <stdlib.h>
#include <string.h>

void values_release(struct values *f)
{
	for (int c = 0; c < COLUMNS; c++)
		free(f->column[c]);
	free(f->fact);
	free(f->task);
	free(f->package);
	arena_free(f->texts);
	*f = (struct values){ 0 };
}

double values_get(const struct values *f, size_t task, enum metric m)
{
	const enum value_column *c = metric_info[m].column;
	const int64_t *a = f->column[c[0]], *b = f->column[c[1]];

	if (!a || !b || a[task] < 0 || b[task] < 0)
		return NAN;
	return (double)(a == b ? a[task] : sat_add(a[task], b[task]));
}

const char *values_fact(const struct values *f, const char *key)
{
	for (size_t i = 0; i < f->n_facts; i++) {
		if (!strcmp(f->fact[i].key, key))
			return f->fact[i].value;
	}
	return NULL;
}

static int by_package(const void *key, const void *item)
{
	return strcmp(key, ((const struct values_package *)item)->name);
}

const char *values_version(const struct values *f, size_t task)
{
	const char *name = f->task[task].name, *end = strstr(name, ": ");
	const struct values_package *found;
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
	return strcmp(key, ((const struct values_task *)item)->name);
}

size_t values_find(const struct values *f, const char *name)
{
	const struct values_task *found;

	found = f->n_tasks ? bsearch(name, f->task, f->n_tasks, sizeof *f->task, by_task) : NULL;
	return found ? (size_t)(found - f->task) : f->n_tasks;
}
